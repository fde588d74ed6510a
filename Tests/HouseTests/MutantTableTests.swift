// The mutants of Tools/mutants against the pages that say what each of them takes out of the code.

import Foundation
import Testing

@Suite struct MutantTableTests {
  private struct Mutant {
    /// The name of its file without the extension.
    var name: String
    /// What its first line begins with, as `fault 12`, `R60, R38`, `law StrataLog 4`, `FORMAT Chain` or `page Backup`.
    var protection: String
    /// The tests that have to notice.
    var filter: String
  }

  /// Rules, scenarios and defects whose tests compare with a model, or that say what a call costs or is named. Changes
  /// that `Tools/mutants/generate` makes take the place of mutants.
  private static let withoutMutant: Set<String> = [
    "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R11", "R12", "R13", "R15", "R18", "R25", "R26", "R29",
    "R30", "R32", "R33", "R34", "R36", "R37", "R43", "R45", "R50", "R55", "R63", "R72", "R74", "R77",
    "S1", "S3", "S4", "S5", "S6", "S7", "S8", "S10", "S11", "S12", "D1", "D2", "D3", "D4", "D5", "D6",
    "D8", "D9", "D10", "D11", "D12", "D13", "D14",
  ]

  /// The sections of FORMAT.md, and of the pages of derived formats, that say what is refused, kept or promised, each of which has a mutant of its own.
  private static let sections = [
    "Segment", "Kinds", "When a block is valid", "Chain", "FOOTER block", "HEAD",
    "What a check reports", "Append ids", "Rewriting a segment", "Erasing",
    "Pages and trees", "Keys", "Preallocation", "Reading beside a writer", "Backups",
    "What a reader of objects checks", "Objects that are replaced", "Segments in a carrier",
    "Members in a carrier", "REPLICA",
  ]

  private static func mutants() throws -> [Mutant] {
    try Repository.files("Tools/mutants", endingIn: ".patch").map { path in
      let first = String(try Repository.text(path).prefix { $0 != "\n" })
      let match = try #require(
        first.wholeMatch(of: /([^:|]+): [^|]+ \| (.+)/),
        "\(path) begins otherwise than with `PROTECTION: what is taken out | FILTER`")
      let name = (path as NSString).lastPathComponent.dropLast(".patch".count)
      return Mutant(name: String(name), protection: String(match.1), filter: String(match.2))
    }
  }

  /// The number of laws on a page, or nil where there is no such page.
  private static func lawCount(_ page: String) throws -> Int? {
    let paths = Repository.files("Sources", endingIn: "/\(page).md")
    guard paths.count == 1 else { return nil }
    let lines = try Repository.text(paths[0]).split(separator: "\n", omittingEmptySubsequences: false)
    guard let head = lines.firstIndex(where: { $0.firstMatch(of: /[Ll]aws( of [a-z ]+)?:$/) != nil }) else {
      return 0
    }
    let list = lines[(head + 1)...].drop { $0.isEmpty }.prefix { !$0.isEmpty }
    return list.count { $0.firstMatch(of: /^(-|[0-9]+\.)\s/) != nil }
  }

  @Test func `every mutant says what it takes the protection from, and that is on its page`() throws {
    let faults = try FaultTableTests.rows()
    let named = Set(faults.flatMap(\.mutants))
    let rules = try Repository.text("Sources/StrataFetch/StrataFetch.docc/Rules.md")
    let pages = ["FORMAT.md"] + Repository.files("Sources", endingIn: "Format.md")
    let format = try pages.map(Repository.text).joined(separator: "\n")
    for mutant in try Self.mutants() {
      let protection = mutant.protection
      let isKnown: Bool
      if let match = protection.wholeMatch(of: /fault ([0-9]+)/) {
        isKnown = faults.contains { $0.number == Int(match.1) && $0.mutants.contains(mutant.name) }
      } else if let match = protection.wholeMatch(of: /law ([A-Za-z]+) ([0-9]+)/) {
        let number = Int(match.2) ?? 0
        isKnown = try number > 0 && number <= Self.lawCount(String(match.1)) ?? 0
      } else if let match = protection.wholeMatch(of: /FORMAT (.+)/) {
        isKnown = format.contains("\n## \(match.1)\n") || format.contains("\n### \(match.1)\n")
      } else if let match = protection.wholeMatch(of: /page ([A-Za-z]+)/) {
        isKnown = Repository.files("Sources", endingIn: "/\(match.1).md").count == 1
      } else {
        isKnown = protection.components(separatedBy: ", ").allSatisfy {
          $0.wholeMatch(of: /[RSD][0-9]+/) != nil && rules.contains("\n| \($0) | ")
        }
      }
      #expect(isKnown, "\(mutant.name) is for \(protection), and no page says so")
      #expect(
        !named.contains(mutant.name) || protection.hasPrefix("fault "),
        "\(mutant.name) is of a row of Faults.md, and says \(protection)")
    }
  }

  @Test func `every rule of lists and every section with a promise has a mutant`() throws {
    let mutants = try Self.mutants()
    let cited = Set(mutants.flatMap { $0.protection.components(separatedBy: ", ") })
    var missing: Set<String> = []
    for line in try Repository.text("Sources/StrataFetch/StrataFetch.docc/Rules.md").split(separator: "\n") {
      guard let match = line.prefixMatch(of: /\| ([RSD][0-9]+) \|/), !line.contains("| *Later:*") else {
        continue
      }
      if !cited.contains(String(match.1)) { missing.insert(String(match.1)) }
    }
    #expect(missing.subtracting(Self.withoutMutant) == [], "without a mutant")
    #expect(
      Self.withoutMutant.subtracting(missing) == [], "in the list of those without, though they have one")
    for section in Self.sections {
      #expect(cited.contains("FORMAT \(section)"), "\(section) is without a mutant")
    }
  }

  @Test func `no two mutants have one number, and there are no more of them than somebody can know`() throws {
    let mutants = try Self.mutants()
    let numbers = mutants.map { $0.name.prefix { $0.isNumber } }
    #expect(!numbers.contains("") && Set(numbers).count == numbers.count)
    #expect(mutants.count <= 300)
  }
}
