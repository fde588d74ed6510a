// Random files of comma separated values that Python's `csv` wrote, and what it reads in them.

import Foundation
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

@Suite(.enabled(if: importHasPython, "python3 is not installed: nothing independent to compare with"))
struct ImportCSVOracleTests {
  /// Writes rows, given as JSON, with a dialect; then reads the file and prints its rows as JSON.
  private static let script = """
    import csv, json, sys
    rows, path = json.load(open(sys.argv[1])), sys.argv[2]
    with open(path, "w", newline="", encoding=sys.argv[6]) as file:
        csv.writer(file, delimiter=sys.argv[3], lineterminator=sys.argv[4], quoting=int(sys.argv[5])).writerows(rows)
    with open(path, newline="", encoding=sys.argv[6]) as file:
        for row in csv.reader(file, delimiter=sys.argv[3]):
            print(json.dumps(row))
    """

  @Test func `each field printed again is what Python reads`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<8 {
      let folder = try ImportFolder()
      let columns = Int.random(in: 2...5, using: &random)
      var names = ["id"]
      while names.count < columns {
        let name = importHostileText(&random) + "\(names.count)"
        if name.utf8.first != 0xEF { names.append(name) }
      }
      var rows = [names]
      for number in 0..<60 {
        rows.append(["\(number)"] + (1..<columns).map { _ in importHostileText(&random) })
      }
      let separator = [",", ";", "\t", "|"].randomElement(using: &random)!
      let isAllQuoted = Bool.random(using: &random)
      try folder.write(DocumentValue.array(rows.map { .array($0.map { .string($0) }) }).json(), to: "rows")
      let output = try importPython(
        Self.script, folder.file("rows"), folder.file("a.csv"), separator,
        ["\n", "\r\n"].randomElement(using: &random)!, isAllQuoted ? "1" : "0",
        ["utf-8", "utf-8-sig"].randomElement(using: &random)!)
      let read = try output.split(separator: "\n").map { try DocumentValue(json: String($0)) }
      try await folder.run(
        [
          folder.file("a.csv"), "--table", "t", "--id", "id", "--separator",
          separator == "\t" ? "tab" : separator,
        ])
      let documents = try await folder.documents()
      #expect(documents.count == 60, "seed \(seed), round \(round)")
      for (document, row) in zip(documents, read.dropFirst()) {
        guard case .object(let object) = document else {
          Issue.record("no object")
          continue
        }
        #expect(object.count == columns)
        let printed = names.map { name in object[name].map { Self.printed($0) } ?? "missing" }
        #expect(.array(printed.map { .string($0) }) == row, "seed \(seed), round \(round)")
        // What is in quotes is text.
        if isAllQuoted { #expect(names.allSatisfy { if case .string? = object[$0] { true } else { false } }) }
      }
      #expect(
        try await folder.run(
          [
            folder.file("a.csv"), "--table", "t", "--id", "id", "--separator",
            separator == "\t" ? "tab" : separator,
          ]
        ).known == 60)
    }
  }

  /// A value as people write it.
  private static func printed(_ value: DocumentValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    default: value.json()
    }
  }
}
