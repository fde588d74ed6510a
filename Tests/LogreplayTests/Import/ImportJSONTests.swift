// Laws of importing JSON that is no lines: arrays, objects over several lines, sequences, and what CBOR becomes of it.

import Foundation
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportJSONTests {
  private static let objects = ["{\"id\":1,\"v\":\"]}\\\"\"}", "{\"id\":2,\"v\":[{},[]]}", "{\"id\":3}"]

  private func imported(_ text: String, _ more: String...) async throws -> [DocumentValue] {
    let folder = try ImportFolder()
    try folder.write(text, to: "a.json")
    let report = try await folder.run([folder.file("a.json"), "--table", "t", "--id", "id"] + more)
    let again = try await folder.run([folder.file("a.json"), "--table", "t", "--id", "id"] + more)
    #expect(again.known == report.appended && again.appended == 0, "\(again)")
    return try await folder.documents()
  }

  @Test func `an array, objects over several lines, a sequence and an object of records are their objects`()
    async throws
  {
    let objects = Self.objects
    let expected = try objects.map { try DocumentValue(json: $0) }
    let pretty = expected.map { $0.json(.pretty) }
    let lines = objects.joined(separator: ",\n")
    let sequence = objects.map { "\u{1E}\($0)\n" }.joined()
    let texts: [String] = [
      "[\(objects.joined(separator: ","))]", "\u{FEFF} [\n\(pretty.joined(separator: " ,\n"))\n]\n\n",
      pretty.joined(separator: "\n"), "\(pretty.joined(separator: "\n\n"))\n", sequence,
      "\u{1E}\u{1E}\(pretty.joined(separator: "\n\u{1E}"))", "{ \"Records\" : [\(lines)] }\n",
    ]
    for text in texts {
      #expect(try await imported(text) == expected, "\(text)")
    }
    #expect(try await imported(objects.joined(separator: " "), "--format", "json") == expected)
    #expect(try await imported("[]").isEmpty)
    #expect(try await imported("{\"Records\":[]}").isEmpty)
  }

  @Test func `a bad record is named with line and column, and the others are imported`() async throws {
    for (text, place) in [
      ("[\n {\"id\":1},\n {\"id\":},\n {\"id\":3}\n]", ":3:8"), ("[{\"id\":1}, 5, {\"id\":3}]", ":1:12"),
      ("{\n\"id\":1\n}\n{\n\"id\":tru\n}\n{\n\"id\":3\n}", ":5:9"),
      ("[{\"id\":1},\n{\"x\":2},{\"id\":3}]", ":2:1"),
      ("\u{1E}{\"id\":1}\n\u{1E}{\"id\":2\n\u{1E}{\"id\":3}\n", ":2:"),
    ] {
      let folder = try ImportFolder()
      try folder.write(text, to: "a.json")
      let arguments = [folder.file("a.json"), "--table", "t", "--id", "id"]
      let failure = try await folder.failure(of: arguments)
      #expect(failure.code == ExitStatus.corrupt && failure.place.contains("a.json\(place)"), "\(failure)")
      let report = try await folder.run(arguments + ["--skip-bad"])
      #expect(report.skipped == 1 && report.appended + report.known == 2, "\(text): \(report)")
      #expect(try await folder.documents().map { $0["id"] } == [1, 3], "\(text)")
    }
  }

  @Test func `an array that is broken between its records ends the import there`() async throws {
    for (text, why) in [
      ("[{\"id\":1} {\"id\":2}]", "a comma is missing"), ("[{\"id\":1},", "ends inside the array"),
      ("[{\"id\":1},]", "a comma without a record"), ("[{\"id\":1}]x", "more text"),
      ("[{\"id\":1}}", "a comma is missing"), ("{\"Records\":[{\"id\":1}],\"more\":1}", "something other"),
    ] {
      let folder = try ImportFolder()
      try folder.write(text, to: "a.json")
      let failure = try await folder.failure(of: [
        folder.file("a.json"), "--table", "t", "--id", "id", "--skip-bad",
      ])
      #expect(failure.code == ExitStatus.corrupt && failure.what.contains(why), "\(text): \(failure)")
      #expect(try await folder.documents() == [["id": 1]], "\(text)")
    }
  }

  @Test func `JSON becomes the same CBOR in one pass as by way of a document, or is left to that`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var maps = CBOROpenMaps()
    var (written, refused) = (0, 0)
    for _ in 0..<1500 {
      var text = Array(Self.object(depth: 4, &random).utf8)
      if Bool.random(using: &random) {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          let index = Int.random(in: 0..<text.count, using: &random)
          text[index] = Array("{}[],:\"\\019e.-+tnu\u{1} \u{FF}".utf8).randomElement(using: &random)!
        }
      }
      var rounded: (column: Int, value: Double)?
      var oldRounded: (column: Int, value: Double)?
      var writer = CBORWriter()
      writer.writeNull()
      let isWritten = text.withUnsafeBytes { writer.writeObject(json: $0, &maps, rounded: &rounded) }
      let document = text.withUnsafeBytes { try? DocumentValue(json: $0, rounded: &oldRounded) }
      if case .object? = document {
        #expect(isWritten, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        #expect(writer.bytes == [0xF6] + (document?.cbor() ?? []), "seed \(seed)")
        #expect(rounded?.column == oldRounded?.column && rounded?.value == oldRounded?.value, "seed \(seed)")
        written += 1
      } else {
        #expect(
          !isWritten && writer.bytes == [0xF6], "seed \(seed): \(String(decoding: text, as: UTF8.self))")
        refused += 1
      }
    }
    #expect(written > 100 && refused > 100, "seed \(seed)")
  }

  /// The text of a random object, with keys of all lengths, at times one of them twice.
  private static func object(depth: Int, _ random: inout SeededGenerator) -> String {
    let count = [0, 1, 2, 5, 30].randomElement(using: &random)!
    let pairs = (0..<(depth > 2 ? count : min(count, 3))).map { _ in
      let key =
        String(repeating: "k", count: Int.random(in: 0...12, using: &random))
        + "\(Int.random(in: 0...400, using: &random))"
      return "\(DocumentValue.string(key).json()): \(value(depth: depth - 1, &random))"
    }
    return "{" + pairs.joined(separator: ",") + "}"
  }

  private static func value(depth: Int, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &random) {
    case 0: return ["null", "true", "false"].randomElement(using: &random)!
    case 1: return DocumentValue(UInt64.random(in: 0 ... .max, using: &random)).json()
    case 2: return "-\(Int.random(in: 0...70_000, using: &random))"
    case 3:
      return ["1e400", "0.5", "1E-7", "-0", "0.123456789012345678", "9007199254740993.0", "1.0"]
        .randomElement(
          using: &random)!
    case 4: return DocumentValue(DocumentInteger("98765432109876543210987")!).json()
    case 5, 6: return DocumentValue.string(importHostileText(&random)).json()
    case 7: return object(depth: depth, &random)
    default:
      let count = [0, 1, 3, 25, 300].randomElement(using: &random)!
      return "["
        + (0..<count).map { _ in value(depth: count > 3 ? 0 : depth - 1, &random) }.joined(separator: ",")
        + "]"
    }
  }
}
