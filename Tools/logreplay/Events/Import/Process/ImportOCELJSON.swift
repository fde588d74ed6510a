// Reads a log in JSON of OCEL 2.0, element by element.

internal import LogreplayShell
internal import StrataDocuments

/// The one object of a log, of which the arrays may come in any order. No more than one element is in memory.
struct ImportOCELJSON {
  private let window: ImportWindow
  private let name: String
  private static let elementLengthMax = 64 << 20

  init(_ input: ImportInput) {
    window = ImportWindow(input)
    name = input.name
  }

  func read(into log: inout ImportOCEL) throws(CommandFailure) {
    while window.bytes.count < 3, try window.fill() {}
    if window.bytes.starts(with: ImportLineReader.byteOrderMark) { window.take(3) }
    try expect("{", "the log is no object: this is not OCEL 2.0 in JSON")
    var seen: Set<ProcessText> = []
    if try nextByte() != UInt8(ascii: "}") {
      repeat {
        guard case .string(let member) = try value("a name") else { throw broken("a name that is no text") }
        guard seen.insert(ProcessText(member)).inserted else {
          throw broken("the member \(String(reflecting: member)) comes twice")
        }
        try expect(":", "a colon is missing after \(String(reflecting: member))")
        try read(member, into: &log)
      } while try takesComma(until: "}")
    }
    try expect("}", "the end of the log is missing")
    guard try nextByte() == nil else { throw broken("more text follows the end of the log") }
    for member in ["events", "objects"] where !seen.contains(ProcessText(member)) {
      throw broken("there are no \(String(reflecting: member)): this is not OCEL 2.0 in JSON")
    }
  }

  private func read(_ member: String, into log: inout ImportOCEL) throws(CommandFailure) {
    guard ["objectTypes", "eventTypes", "objects", "events"].contains(member) else {
      throw broken("a member \(String(reflecting: member)), which OCEL 2.0 does not have")
    }
    try expect("[", "\(String(reflecting: member)) is no array")
    var number = 0
    if try nextByte() != UInt8(ascii: "]") {
      repeat {
        number += 1
        let place = "element \(number) of \(String(reflecting: member))"
        let value = try value(place)
        do throws(ImportOCELProblem) {
          switch member {
          case "objectTypes": try log.objectTypes.add(value)
          case "eventTypes": try log.eventTypes.add(value)
          case "objects": try log.take(object: value)
          default: try log.take(event: value)
          }
        } catch { throw broken("\(place) \(error.what)") }
      } while try takesComma(until: "]")
    }
    try expect("]", "the end of \(String(reflecting: member)) is missing")
  }

  // MARK: JSON

  /// Takes the next value.
  private func value(_ place: String) throws(CommandFailure) -> DocumentValue {
    guard try nextByte() != nil else { throw broken("the input ends before \(place)") }
    var framing = ImportJSONFraming()
    var length: Int?
    while true {
      length = framing.end(in: window.bytes)
      guard length == nil else { break }
      guard window.bytes.count <= Self.elementLengthMax else {
        throw broken("\(place) has more than \(Self.elementLengthMax) bytes")
      }
      guard try window.fill() else { throw broken("the input ends inside of \(place)") }
    }
    let bytes = UnsafeRawBufferPointer(rebasing: window.bytes[..<(length ?? 0)])
    defer { window.take(bytes.count) }
    do throws(JSONError) { return try DocumentValue(json: bytes) } catch {
      throw broken("\(place): \(error.explanation), on its line \(error.line), column \(error.column)")
    }
  }

  private func takesComma(until end: Character) throws(CommandFailure) -> Bool {
    guard try nextByte() == UInt8(ascii: ",") else { return false }
    window.take(1)
    if try nextByte() == end.asciiValue { throw broken("a comma with nothing after it") }
    return true
  }

  private func expect(_ character: Character, _ why: String) throws(CommandFailure) {
    guard try nextByte() == character.asciiValue else { throw broken(why) }
    window.take(1)
  }

  /// The next byte that is no white space; nil at the end.
  private func nextByte() throws(CommandFailure) -> UInt8? {
    while true {
      let bytes = window.bytes
      window.take(bytes.firstIndex { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } ?? bytes.count)
      if let byte = window.bytes.first { return byte }
      guard try window.fill() else { return nil }
    }
  }

  private func broken(_ why: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, why, at: name, next: "correct it and import again; nothing was appended")
  }
}
