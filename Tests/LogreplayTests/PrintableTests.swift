// What data holds never reaches a terminal as a command to it.

import Foundation
import Strata
import StrataDocuments
import Testing

struct PrintableTests {
  private static let bad = "a\u{1B}[31mb\nc\u{9B}d\u{202E}e"
  private static let good = #"a\u{1b}[31mb\u{a}c\u{9b}d\u{202e}e"#

  /// A store in which every name and every text has control characters.
  private static func folder() async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let row = StreamName(category: bad, id: bad)
    try await store.append(
      [NewEvent("$put", in: row, [bad: .string(bad), "n": 1], metadata: [bad: .string(bad)])], id: bad)
    try await store.append([NewEvent("$merge", in: row, [bad: .string(bad + "2")])])
    try await store.append([NewEvent(bad, in: row, .string(bad))])
    try await store.close()
    return folder
  }

  private static let field = "`a\u{1B}[31mb\nc\u{9B}d\u{202E}e`"

  @Test(arguments: [
    ["at", "-o", "table"], ["at", "-o", "short"], ["at", "-o", "table", "--section-by", field],
    ["at", "--where", "x == 1", "-o", "table"], ["at", "--sort", "x\u{1B}"], ["at", "--fields", "n,\u{1B}"],
    ["at", "--table", bad + "x"], ["at", "--view", bad], ["at", "id:\(bad)"], ["at", "--\(bad)"],
    ["diff", "0..", "-o", "table"], ["diff", "1..2", "-o", "short"], ["diff", "0..", "-o", "patch"],
    ["diff", "0..", "--stat", "--section-by", field], ["log", "-o", "table"], ["log", "-o", "short"],
    ["log", "--type", "x\u{1B}"], ["log", "--row", "\(bad)/\(bad)", "-p"], ["log", "--row", "\(bad)/x"],
    ["log", "--color", bad], ["log", "-g", "[\u{1B}"], ["log", "--cursor-file", "/none/\(bad)"],
    ["bisect", "--where", "n != 9"], ["bisect", "--where", "n != 9", "--all-flips"],
    ["bisect", "--run", bad],
    ["show", "1"], ["show", bad], ["info"], ["replay"], ["verify"],
    ["follow", "--table", bad + "x", "--until-caught-up"],
    ["follow", "--from", "0", "--until-caught-up", "-o", "table"],
  ])
  func `no command lets data control a terminal`(arguments: [String]) async throws {
    let folder = try await Self.folder()
    let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
    for scalar in (outcome.output + outcome.errors).unicodeScalars where scalar != "\n" {
      let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x202E
      #expect(!isControl, "\(arguments): \(outcome)")
      if isControl { break }
    }
  }

  @Test func `a field's name takes one line of a table's head, and its column is as wide as what is shown`()
    async throws
  {
    let folder = try await Self.folder()
    let lines = try await folder.answer("at", "1", "-o", "table", "--fields", "\(Self.field),n")
      .split(separator: "\n").map(String.init)
    let id = Self.good
    let space = String(repeating: " ", count: id.count - "id".count)
    #expect(lines == ["  id\(space)  \(id)  n", "\(id)  1", "  \(id)  \(id)  1"])
  }
}
