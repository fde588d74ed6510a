// Keys of items that are collected first and looked up together.

internal import StrataTables

/// Keys in one contiguous byte array.
struct GatheredKeys {
  private var bytes: [UInt8] = []
  private var keys: [Range<Int>] = []

  /// Appends a key, and returns its number.
  mutating func append(_ key: borrowing PlacedKey) -> Int {
    let start = bytes.count
    bytes.append(contentsOf: key.bytes)
    keys.append(start..<bytes.count)
    return keys.count - 1
  }

  /// The rank of each key among the items of a list, and whether it has all of them.
  func ranks(in view: borrowing View) -> (ranks: [Int], areAllFound: Bool) {
    bytes.withUnsafeBytes { view.ranks(of: keys, in: $0) }
  }

  /// Passes the first bytes of a key to the body.
  func withPrefix<Result>(_ length: Int, of number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result
  {
    let start = keys[number].lowerBound
    return bytes.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
    }
  }
}
