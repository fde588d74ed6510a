// The page of rules against the tests whose names cite them.

import Foundation
import Testing

@Suite struct RuleTableTests {
  private struct Row {
    var number: String
    var text: String
    /// The names of files without their extension.
    var files: [String]
  }

  private static let page = "Sources/StrataFetch/StrataFetch.docc/Rules.md"

  private static func rows() throws -> [Row] {
    try Repository.text(page).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard cells.count == 5, (try? /[RSD][0-9]+/.wholeMatch(in: cells[1])) != nil else { return nil }
      let files = cells[3].isEmpty ? [] : cells[3].components(separatedBy: ", ")
      try #require(files.allSatisfy { $0.hasPrefix("`") && $0.hasSuffix("`") }, "\(cells[1]): \(cells[3])")
      return Row(number: cells[1], text: cells[2], files: files.map { String($0.dropFirst().dropLast()) })
    }
  }

  /// The numbers that a test's name begins with: `R44 A window …`, `S4 and S6 …`, `R26 to R28: …`.
  private static func numbers(citedBy name: Substring) -> [String] {
    guard let head = name.prefixMatch(of: /([RSD][0-9]+(?:(?:, | and | to )[RSD][0-9]+)*)[: ]/) else {
      return []
    }
    var numbers: [String] = []
    for match in head.1.matches(of: /(^|, | and | to )([RSD])([0-9]+)/) {
      guard let last = Int(match.3) else { continue }
      var first = last
      if match.1 == " to ", let before = numbers.last, let number = Int(before.dropFirst()) {
        first = number + 1
      }
      numbers += (min(first, last)...last).map { "\(match.2)\($0)" }
    }
    return numbers
  }

  /// The files of the tests that cite each number.
  private static func citations() throws -> [String: Set<String>] {
    var files: [String: Set<String>] = [:]
    for path in Repository.swiftFiles("Tests") {
      let name = (path as NSString).lastPathComponent.dropLast(".swift".count)
      for match in try Repository.text(path).matches(of: /func\s+`([^`]+)`/) {
        for number in numbers(citedBy: match.1) { files[number, default: []].insert(String(name)) }
      }
    }
    return files
  }

  @Test func `every rule, scenario and defect has one row, without a gap, that says what holds`() throws {
    let rows = try Self.rows()
    let expected = [("R", 78), ("S", 12), ("D", 14)].flatMap { family, last in
      (1...last).map { "\(family)\($0)" }
    }
    #expect(rows.map(\.number) == expected)
    for row in rows { #expect(row.text.hasSuffix("."), "\(row.number) says nothing") }
  }

  @Test func `every number that a test cites is on the page, with exactly the files of its tests`() throws {
    let rows = try Self.rows()
    let citations = try Self.citations()
    #expect(Set(citations.keys).subtracting(rows.map(\.number)) == [], "cited, and not on the page")
    for row in rows {
      let cited = citations[row.number, default: []].sorted()
      let cell = cited.map { "`\($0)`" }.joined(separator: ", ")
      #expect(row.files == cited, "the last cell of \(row.number) has to be: \(cell)")
      #expect(
        row.text.hasPrefix("*Later:*") == cited.isEmpty, "\(row.number) is later exactly if it has no tests")
    }
    #expect(citations.count >= 90)
  }

  @Test func `a file's name stands for one file, and the tool that runs the rules knows the same numbers`()
    throws
  {
    let named = Set(try Self.rows().flatMap(\.files))
    let names = Repository.swiftFiles("Tests").map {
      ($0 as NSString).lastPathComponent.dropLast(".swift".count)
    }
    for name in named { #expect(names.count { $0 == name } == 1, "\(name)") }

    let tool = try Repository.text("Tools/support/rules.py")
    let later = try #require(tool.firstMatch(of: /\nLATER = \{([^}]*)\}/)).1
    let rows = try Self.rows()
    #expect(
      Set(later.matches(of: /"([RSD][0-9]+)"/).map { String($0.1) })
        == Set(rows.filter { $0.text.hasPrefix("*Later:*") }.map(\.number)))
    let families = try #require(tool.firstMatch(of: /\nFAMILIES = \{([^}]*)\}/)).1
    for match in families.matches(of: /"([RSD])": ([0-9]+)/) {
      #expect(rows.count { $0.number.hasPrefix(match.1) } == Int(match.2), "\(match.1)")
    }
  }
}
