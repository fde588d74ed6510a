// The folders of each module: who uses whom, in one direction.

import Foundation
import Testing

@Suite struct FolderTests {
  /// Where the types of a module are declared, and which names each of its files uses.
  private struct Module {
    var homes: [Substring: String] = [:]
    var uses: [(path: String, folder: String, names: Set<Substring>)] = []

    /// Files at the root of a module have no folder: they may use all of it.
    init(_ root: String) throws {
      let declaration = /(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w*)/
      for path in Repository.swiftFiles(root) {
        let folder = path.dropFirst(root.count + 1).split(separator: "/").dropLast().joined(separator: "/")
        guard !folder.isEmpty else { continue }
        var names: Set<Substring> = []
        for line in try Repository.text(path).split(separator: "\n") {
          let text = line.drop { $0 == " " }
          if text.hasPrefix("//") { continue }
          var declared: Substring?
          if line.first != " ", !line.hasPrefix("extension"), let match = line.firstMatch(of: declaration) {
            declared = match.1
            homes[match.1] = folder
          }
          // An extension may be in another folder than its type, so the type that it extends does not count as used.
          let body = line.hasPrefix("extension") ? line.dropFirst(10).drop { $0 != " " && $0 != ":" } : line
          names.formUnion(body.matches(of: /\b[A-Z]\w+\b/).map(\.0).filter { $0 != declared })
        }
        uses.append((path, folder, names))
      }
    }

    /// Which folder uses which other ones, and an example of each.
    func arrows() -> [String: [String: String]] {
      var arrows: [String: [String: String]] = [:]
      for (path, folder, names) in uses {
        for name in names.sorted() {
          guard let home = homes[name], home != folder, arrows[folder]?[home] == nil else { continue }
          arrows[folder, default: [:]][home] = "\(path) uses \(name) of \(home)"
        }
      }
      return arrows
    }
  }

  private static let modules =
    ((try? FileManager.default.contentsOfDirectory(
      atPath: Repository.root.appendingPathComponent("Sources").path)) ?? [])
    .filter { $0.hasPrefix("Strata") }.sorted().map { "Sources/\($0)" }
    + ["Points", "Shell", "Tables"].map { "Tools/logreplay/\($0)" }

  @Test(arguments: modules)
  func `no folders of a module use each other in a circle`(root: String) throws {
    var arrows = try Module(root).arrows()
    // A folder that uses no other is a floor to stand on; what is left, when there is none, is a circle.
    while let floor = Set(arrows.values.flatMap(\.keys)).union(arrows.keys)
      .first(where: { arrows[$0, default: [:]].isEmpty })
    {
      arrows[floor] = nil
      for folder in arrows.keys { arrows[folder]?[floor] = nil }
    }
    #expect(arrows.isEmpty, "\(arrows.values.flatMap(\.values).sorted().joined(separator: "\n"))")
  }

  @Test func `there are modules whose folders use each other`() throws {
    #expect(Self.modules.count > 12)
    #expect(try Module("Sources/StrataLog").arrows().count > 8)
  }

  @Test(arguments: ["Tools/logreplay/Events"])
  func `no two folders of the tool use each other`(root: String) throws {
    let arrows = try Module(root).arrows()
    for (folder, others) in arrows {
      for (other, why) in others where folder < other {
        if let back = arrows[other]?[folder] { Issue.record("\(why), and \(back)") }
      }
    }
  }
}
