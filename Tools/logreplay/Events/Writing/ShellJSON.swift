// Reads the JSON that a shell gives: an argument, a file, or standard input.

package import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// Parses JSON strictly: a number that no double holds is refused, and not changed without a word.
package enum ShellJSON {
  /// The most bytes of one document's text.
  static let lengthMax = 64 << 20

  /// The value of a text, with the number of its line where it is one of several.
  static func parse(_ text: UnsafeRawBufferPointer, rounds: Bool) throws(WriteRefusal) -> DocumentValue {
    var rounded: (column: Int, value: Double)?
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: text, rounded: &rounded) } catch {
      let place = error.line > 1 ? "line \(error.line), column \(error.column)" : "column \(error.column)"
      throw WriteRefusal("no JSON at \(place): \(error.explanation)", next: "give one JSON value (RFC 8259)")
    }
    if let rounded, !rounds {
      throw WriteRefusal(
        "a number at column \(rounded.column) that a double cannot hold; the nearest one is \(rounded.value)",
        next: "give it as a string, or take the nearest one with --round-numbers")
    }
    return value
  }

  static func parse(_ text: String, rounds: Bool) throws(WriteRefusal) -> DocumentValue {
    try Array(text.utf8).lendBytes { bytes throws(WriteRefusal) in try parse(bytes, rounds: rounds) }
  }

  /// The document of an argument: JSON text, `@FILE`, or `-` for standard input.
  static func document(_ argument: String, rounds: Bool) throws(CommandFailure) -> DocumentValue {
    let isInput = argument == "-" || argument.hasPrefix("@")
    let name = argument == "-" ? "standard input" : isInput ? String(argument.dropFirst()) : "the argument"
    let text = isInput ? try read(argument == "-" ? "-" : name) : Array(argument.utf8)
    do throws(WriteRefusal) {
      guard text.contains(where: { $0 > 0x20 }) else {
        throw WriteRefusal("there is no document", next: "give JSON, or null for nothing")
      }
      return try text.lendBytes { bytes throws(WriteRefusal) in try parse(bytes, rounds: rounds) }
    } catch {
      var failure = error.failure(in: name)
      if !isInput { failure.next += "; @FILE reads a file, and - standard input" }
      throw failure
    }
  }

  /// What a file or standard input holds, decompressed, without the byte order mark that some programs write.
  private static func read(_ path: String) throws(CommandFailure) -> [UInt8] {
    let input = try opened(path)
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    do throws(CommandFailure) {
      while true {
        let count = try chunk.lendMutableBytes { bytes throws(CommandFailure) in try input.read(into: bytes) }
        if count == 0 { break }
        text += chunk[..<count]
        guard text.count <= lengthMax else {
          throw CommandFailure(
            ExitStatus.corrupt, "the document's text has more than \(lengthMax) bytes", at: input.name,
            next: "write it in parts")
        }
      }
      try input.finish()
    } catch { throw unwritten(error) }
    return text.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(text.dropFirst(3)) : text
  }

  /// A file or standard input to read from.
  package static func opened(_ path: String) throws(CommandFailure) -> ImportInput {
    do throws(CommandFailure) { return try ImportInput(path) } catch { throw unwritten(error) }
  }

  /// The failure of reading what was to be written.
  private static func unwritten(_ failure: CommandFailure) -> CommandFailure {
    guard failure.code != ExitStatus.corrupt || failure.what.contains("gzip") else { return failure }
    var failure = failure
    failure.what = failure.what.replacing("the file to import", with: "the file")
    failure.next = "check the file, and write it again; nothing was appended"
    return failure
  }
}
