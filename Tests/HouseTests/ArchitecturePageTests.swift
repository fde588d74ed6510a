// The page on the architecture against the files and types that it names.

import Foundation
import Testing

@Suite struct ArchitecturePageTests {
  private static let page = "Sources/Strata/Strata.docc/Architecture.md"

  /// What the page says in single backquotes; DocC checks what is in double ones.
  private static func names() throws -> [Substring] {
    try Repository.text(page).matches(of: /``[^`]+``|`([^`\n]+)`/).compactMap(\.1)
  }

  private static func exists(_ path: some StringProtocol) -> Bool {
    FileManager.default.fileExists(atPath: Repository.root.appendingPathComponent(String(path)).path)
  }

  @Test func `every file and folder that the page names is there, and a name without a folder is one file's`()
    throws
  {
    let files =
      Repository.swiftFiles("Sources") + Repository.swiftFiles("Tools") + Repository.swiftFiles("Tests")
    var found = 0
    for name in try Self.names() {
      let path = name.prefix { $0 != " " }
      let isPath = path.contains("/") || path.wholeMatch(of: /[\w+.-]+\.(swift|md|py)/) != nil
      guard isPath else { continue }
      found += 1
      if !path.contains("/"), path.hasSuffix(".swift"), !Self.exists(path) {
        #expect(files.count { $0.hasSuffix("/\(path)") } == 1, "\(path)")
      } else {
        #expect(Self.exists(path), "\(path)")
      }
    }
    #expect(found >= 60)
  }

  @Test func `each hop of the two walks is a method in its file, and the page counts them`() throws {
    let files = Repository.swiftFiles("Sources")
    var texts: [String: String] = [:]
    for path in files { texts[path] = try Repository.text(path) }
    let all = texts.values.joined(separator: "\n")
    var counts: [Int] = []
    for hop in try Repository.text(Self.page).matches(
      of: /\n\| (\d+) \| `(\w+)\.(\w+)` \| `([\w+]+\.swift)` \|/)
    {
      let (number, type, method, file) = (Int(hop.1), hop.2, hop.3, hop.4)
      if number == 1 { counts.append(0) }
      counts[counts.count - 1] += 1
      #expect(number == counts[counts.count - 1], "\(type).\(method) is out of order")
      let path = try #require(files.first { $0.hasSuffix("/\(file)") }, "there is no \(file)")
      let text = texts[path] ?? ""
      let declarations =
        method == "init"
        ? ["init(", "init?(", "init<"] : ["func \(method)(", "func \(method)<", "var \(method):"]
      #expect(declarations.contains { text.contains($0) }, "\(file) has no \(method)")
      #expect(
        ["struct", "class", "enum", "actor", "protocol", "typealias"].contains {
          all.contains("\($0) \(type)")
        },
        "there is no \(type)")
    }
    let said = try Repository.text(Self.page).matches(of: /: (\d+) hops/).compactMap { Int($0.1) }
    #expect(counts == said && counts.count == 2)
  }

  @Test func `every type that the page names is declared, and every module has a line`() throws {
    let modules = try FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appendingPathComponent("Sources").path)
    var declared = Set(modules)
    // Of the tests, the page names what those of derived data are made of.
    for path in ["Sources", "Tools", "Tests/StrataTablesTests/Derived"].flatMap(Repository.swiftFiles) {
      for match in try Repository.text(path).matches(
        of: /\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z]\w*)/)
      {
        declared.insert(String(match.1))
      }
    }
    var found = 0
    for name in try Self.names() where name.wholeMatch(of: /[A-Z][a-z]\w+/) != nil {
      found += 1
      #expect(declared.contains(String(name)), "there is no \(name)")
    }
    #expect(found >= 30)
    let text = try Repository.text(Self.page)
    for module in modules where module.hasPrefix("Strata") {
      #expect(text.contains("\n| `\(module)` |"), "\(module) has no line")
    }
  }
}
