// The links between the files of the repository that people read first.

import Foundation
import Testing

@Suite struct LinkTests {
  @Test(arguments: [
    "README.md", "FORMAT.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", ".github/CHANGELOG.md",
  ])
  func `every link to a file of the repository leads to one`(page: String) throws {
    let folder = Repository.root.appendingPathComponent(page).deletingLastPathComponent()
    for match in try Repository.text(page).matches(of: /\]\(([^)#\s]+)[^)]*\)/) where !match.1.contains("://")
    {
      let target = folder.appendingPathComponent(String(match.1)).path
      #expect(FileManager.default.fileExists(atPath: target), "\(page) links to \(match.1)")
    }
  }

  @Test func `the pages on contributing, security and changes are linked from README`() throws {
    let text = try Repository.text("README.md")
    for page in ["CONTRIBUTING", "SECURITY", "CHANGELOG"] { #expect(text.contains("](.github/\(page).md)")) }
  }
}
