// The rows of the list in both libraries.

/// A document of about 150 bytes, most of which is text without repetitions.
struct Incident: Codable, Identifiable, Sendable {
  static let sectionCount = 200
  /// The length of the text, in bytes.
  static let textLength = 115

  var id: Int
  var product: String
  var time: Int
  var note = 0
  var text: String

  static func product(_ number: Int) -> String { "PROD\(100 + number)" }

  static func rows(_ range: Range<Int>) -> [Incident] {
    range.map { id in
      var random = FixedGenerator(seed: id)
      return Incident(
        id: id, product: product(.random(in: 0..<sectionCount, using: &random)),
        time: .random(in: 0..<10_000_000, using: &random), text: text(id, length: textLength))
    }
  }

  /// A text of 64 different letters in random order, the same for the same seed.
  static func text(_ seed: Int, length: Int) -> String {
    var random = FixedGenerator(seed: ~seed)
    return random.text(length: length)
  }
}
