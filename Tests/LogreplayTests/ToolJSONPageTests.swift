// The page of the tool's JSON: its commands print what it shows.

import Foundation
import Testing

struct ToolJSONPageTests {
  /// A command of the page, and the objects that it prints.
  private struct Example {
    var command: String
    var output: String
  }

  private static let root = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  /// Each block of the shell with the block of JSON after it.
  private static func examples() throws -> [Example] {
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/Strata/Strata.docc/ToolJSON.md"), encoding: .utf8)
    return page.components(separatedBy: "```sh\n").dropFirst().map { part in
      let pieces = part.components(separatedBy: "\n```")
      let output = pieces.dropFirst().first { $0.hasPrefix("json\n") }
      return Example(command: pieces[0], output: String(output?.dropFirst("json\n".count) ?? ""))
    }
  }

  /// Objects that follow each other, as text that is equal if they are, without what no two runs have in common.
  private static func objects(_ text: String) throws -> [String] {
    var (objects, object): ([String], String) = ([], "")
    for line in text.components(separatedBy: "\n") {
      object += line + "\n"
      guard line.hasSuffix("}"), !line.hasPrefix(" ") else { continue }
      let parsed = try JSONSerialization.jsonObject(with: Data(object.utf8)) as? [String: Any]
      let data = try JSONSerialization.data(
        withJSONObject: comparable(try #require(parsed)), options: .sortedKeys)
      objects.append(String(decoding: data, as: UTF8.self))
      object = ""
    }
    return objects
  }

  private static func comparable(_ object: [String: Any]) -> [String: Any] {
    var other = object
    for key in ["uuid", "seconds", "bytes", "bytesBefore", "bytesAfter", "rawBytes", "memoryBytes"]
    where object[key] != nil {
      other[key] = "some"
    }
    if let states = object["checkpoints"] as? [[String: Any]] {
      other["checkpoints"] = states.map(comparable)
    }
    return other
  }

  @Test func `each command of the page prints the JSON that the page shows`() async throws {
    let examples = try Self.examples()
    try #require(examples.count > 15)
    let folder = try SampleFolder()
    for example in examples {
      #expect(example.command.hasPrefix("logreplay "), "\(example.command)")
      let command = example.command.dropFirst("logreplay ".count)
        .replacingOccurrences(of: "Tools/", with: "\(Self.root.path)/Tools/")
      let outcome = try await LogreplayProcess.shell(
        "cd \"$1\"; TZ=UTC \"$0\" \(command) || true", folder.path)
      let printed = outcome.output.isEmpty ? outcome.errors : outcome.output
      let (shown, found) = (try Self.objects(example.output), try Self.objects(printed))
      #expect(!shown.isEmpty && found == shown, "\(example.command): \(printed)")
    }
  }
}
