// The rows that are asked about at points of the past.

/// A row of about 150 bytes, which takes about as many on disk: most of it is text without repetitions.
struct PastRow: Codable, Identifiable, Sendable, Equatable {
  static let sectionCount = 200
  private static let textLength = 115
  /// The least id, so that all ids have the same number of digits: their order as texts is that of the numbers.
  static let firstID = 1_000_000_000

  var id: Int
  var product: String
  var time: Int
  var note: Int
  var text: String

  /// The row with this number; its text is the same in every version.
  init(number: Int, _ version: PastVersion) {
    var random = FixedGenerator(seed: ~number)
    id = Self.firstID + number
    product = Self.product(version.section)
    (time, note) = (version.time, version.note)
    text = random.text(length: Self.textLength)
  }

  init(id: Int, product: String, time: Int, note: Int, text: String) {
    (self.id, self.product, self.time, self.note, self.text) = (id, product, time, note, text)
  }

  static func product(_ section: Int) -> String { "PROD\(100 + section)" }
}

/// What differs between the versions of a row.
struct PastVersion: Sendable {
  var section: Int
  var time: Int
  var note: Int
}
