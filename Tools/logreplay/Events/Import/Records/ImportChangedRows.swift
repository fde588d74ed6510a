// Which rows an import has changed: a record of such a row is no longer compared with what the store had before.

/// A set of rows, by the hashes of their streams, in memory of one size.
///
/// Two rows may share a bit. Then the second one is appended without a comparison, and at worst again; a row that was
/// changed is never taken for one that was not.
struct ImportChangedRows {
  private static let bitCount: UInt64 = 1 << 24
  private var words: [UInt64] = []

  func contains(_ hash: UInt64) -> Bool {
    guard !words.isEmpty else { return false }
    let bit = hash % Self.bitCount
    return words[Int(bit / 64)] & (1 << (bit % 64)) != 0
  }

  mutating func insert(_ hash: UInt64) {
    if words.isEmpty { words = Array(repeating: 0, count: Int(Self.bitCount / 64)) }
    let bit = hash % Self.bitCount
    words[Int(bit / 64)] |= 1 << (bit % 64)
  }
}
