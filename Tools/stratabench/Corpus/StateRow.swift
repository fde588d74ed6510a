// The rows of the workload of states: documents that do not get smaller on disk than they are.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables
internal import StrataSimulation

/// A document of about 150 bytes, which takes about as many on disk: most of it is text without repetitions, which LZ4
/// cannot shorten. The text follows from the number, so that a million rows need not keep theirs.
struct StateRow: Sendable {
  static let sectionCount = 200
  /// The length of the text, in bytes.
  static let textLength = 115

  var number: Int
  var time: Int
  var product: Int
  var note = 0

  /// The rows of a table, by ascending id.
  static func rows(_ count: Int) -> [StateRow] {
    var random = SeededGenerator(seed: 2)
    return (0..<count).map {
      StateRow(
        number: $0, time: Int.random(in: 0..<10_000_000, using: &random),
        product: Int.random(in: 0..<min(sectionCount, max(1, count / 10)), using: &random))
    }
  }

  static func id(_ number: Int) -> String {
    let digits = String(number)
    return "1-" + String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
  }

  /// The event that puts the document.
  var event: NewEvent {
    let id = Self.id(number)
    return NewEvent(
      DocumentEvent.put, in: StreamName("incident/\(id)"),
      .object([
        "id": .string(id), "time": .int(Int64(1_300_000_000 + time)),
        "product": .string("PROD\(100 + product)"),
        "note": .int(Int64(note)), "text": .string(Self.text(number, length: Self.textLength)),
      ]))
  }

  /// A text of 64 different letters in random order.
  static func text(_ number: Int, length: Int) -> String {
    var state = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 | 1
    return String(unsafeUninitializedCapacity: length) { bytes in
      for index in 0..<length {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // From 0x30 to 0x6F: digits, letters and a few signs, none of which CBOR or JSON writes as more than a byte.
        bytes[index] = UInt8(0x30 + (state >> 58))
      }
      return length
    }
  }
}
