// The table of faults against the tests and mutants that it names.

import Foundation
import Testing

@Suite struct FaultTableTests {
  struct Row {
    var number: Int
    /// A test's name without its number, and its file.
    var tests: [(name: String, file: String)]
    var mutants: [String]
  }

  static func rows() throws -> [Row] {
    try Repository.text("Sources/StrataLog/StrataLog.docc/Faults.md").split(separator: "\n").compactMap {
      line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 7, let number = Int(cells[1]) else { return nil }
      let tests = try cells[4].components(separatedBy: "<br>").map { entry in
        let parts = entry.components(separatedBy: "` in ")
        try #require(
          parts.count == 2 && parts[0].hasPrefix("`"), "fault \(number): \(entry) is no test in a file")
        return (name: String(parts[0].dropFirst()), file: parts[1])
      }
      try #require(!cells[2].isEmpty && !cells[3].isEmpty, "fault \(number) says nothing")
      return Row(number: number, tests: tests, mutants: cells[5].split(separator: " ").map(String.init))
    }
  }

  /// The tests of faults in a file, which begin with `fault 07: ` or, where a test is of several, with `fault 07, 12: `.
  private static func tests(in text: String) -> [(number: Int, name: String)] {
    text.split(separator: "\n").lazy.filter { $0.contains("`fault ") }.compactMap {
      $0.firstMatch(of: /`fault ([0-9]{2,}(?:, [0-9]{2,})*): ([^`]+)`\(/)
    }
    .flatMap { match in
      match.1.components(separatedBy: ", ").compactMap { number in
        Int(number).map { ($0, String(match.2)) }
      }
    }
  }

  @Test
  func `every fault has a row, without a gap, a test that is there and a mutant that is there`()
    throws
  {
    let rows = try Self.rows()
    #expect(rows.map(\.number) == Array(1...max(84, rows.count)))
    let folder = Repository.root.appendingPathComponent("Tools/mutants").path
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
    let mutants = Set(paths.map { $0.split(separator: "/").last.map(String.init) ?? $0 })
    for row in rows {
      #expect(!row.mutants.isEmpty, "fault \(row.number) has no mutant")
      for mutant in row.mutants {
        #expect(mutants.contains("\(mutant).patch"), "fault \(row.number): there is no mutant \(mutant)")
      }
      for test in row.tests {
        let tests = Self.tests(in: (try? Repository.text(test.file)) ?? "")
        #expect(
          tests.contains { $0.number == row.number && $0.name == test.name },
          "fault \(row.number): \(test.file) has no test \(test.name)")
      }
    }
  }

  @Test func `every test of a fault is in the table`() throws {
    let listed = Set(
      try Self.rows().flatMap { row in row.tests.map { "\(row.number): \($0.name) in \($0.file)" } })
    var found: Set<String> = []
    for file in Repository.swiftFiles("Tests") {
      for test in Self.tests(in: try Repository.text(file)) {
        found.insert("\(test.number): \(test.name) in \(file)")
      }
    }
    #expect(found.subtracting(listed) == [] && listed.subtracting(found) == [])
    #expect(found.count >= 45)
  }
}
