// The identity of a store: a UUID that every segment, block and HEAD carries.

internal import StrataBase

/// Sixteen bytes that name one store among all stores.
package struct StoreID: Hashable, Sendable {
  /// The bytes in order, as two little-endian halves.
  package var low: UInt64
  package var high: UInt64

  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The sixteen bytes at an address, which need not be aligned.
  package init(at bytes: UnsafeRawPointer) {
    low = bytes.littleEndian(UInt64.self, at: 0)
    high = bytes.littleEndian(UInt64.self, at: 8)
  }

  /// A new random identity, marked as a version 4 UUID (RFC 9562).
  package static func random() -> StoreID {
    var generator = SystemRandomNumberGenerator()
    let low = (generator.next() as UInt64) & 0xFF0F_FFFF_FFFF_FFFF | 0x0040_0000_0000_0000
    let high = (generator.next() as UInt64) & 0xFFFF_FFFF_FFFF_FF3F | 0x80
    return StoreID(low: low, high: high)
  }

  package func write(to target: UnsafeMutableRawPointer) {
    target.setLittleEndian(low, at: 0)
    target.setLittleEndian(high, at: 8)
  }

  package var bytes: [UInt8] {
    (0..<16).map { UInt8(truncatingIfNeeded: ($0 < 8 ? low : high) >> (8 * UInt64($0 % 8))) }
  }
}

extension StoreID: CustomStringConvertible {
  /// The usual text form: 8-4-4-4-12 lower-case hex digits.
  package var description: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
