// The first byte of each component of a sort key: the class of its value.

/// The tags, in the order of the classes.
///
/// | byte | class | what follows |
/// |---|---|---|
/// | 01, FE | nil, first or last | nothing |
/// | 02, FD | present mark, before a value that begins with nil | the value |
/// | 10, 11 | false, true | nothing |
/// | 20 | a number below zero | the complement of what follows 21 for its magnitude |
/// | 21 | zero or above | 8 bytes: the greatest double that is not greater; a length; the remainder |
/// | 22 | NaN | nothing |
/// | 30 | an instant | 5 bytes: seconds plus 2³⁹; 4 bytes: nanoseconds, doubled, odd if 4 more bytes follow |
/// | 38 | a string | UTF-8 with 00 as 00 FF, then 00 01 |
/// | 39 | a string that was transformed | the same |
/// | 40 | bytes | the same, for any bytes |
/// | 48 | a UUID | 16 bytes |
///
/// A descending component is inverted as a whole, including its tag: tags from 80 on are inverted ones. The four
/// bytes for nil and its marks are never inverted, so nil comes first or last in either direction.
///
/// An instant's seconds count from 1970. The remainder of a number is a big-endian integer without leading zeros. Its
/// length is one byte up to FD; a greater length is FE and two bytes.
enum SortKeyTag {
  static let nilFirst: UInt8 = 0x01
  static let presentFirst: UInt8 = 0x02
  static let presentLast: UInt8 = 0xFD
  static let nilLast: UInt8 = 0xFE

  static let `false`: UInt8 = 0x10
  static let `true`: UInt8 = 0x11
  static let negative: UInt8 = 0x20
  static let positive: UInt8 = 0x21
  static let nan: UInt8 = 0x22
  static let instant: UInt8 = 0x30
  static let string: UInt8 = 0x38
  static let transformedString: UInt8 = 0x39
  static let bytes: UInt8 = 0x40
  static let uuid: UInt8 = 0x48

  /// What follows a zero byte inside a string.
  static let escaped: UInt8 = 0xFF
  /// What follows the zero byte at a string's end.
  static let end: UInt8 = 0x01
  /// What follows the zero byte where a string, and the key with it, was cut.
  static let cut: UInt8 = 0x02
  /// The first byte of a length that is stored in the two following bytes.
  static let longLength: UInt8 = 0xFE

  /// Whether a key is a nil and nothing else.
  static func isNil(_ key: UnsafeRawBufferPointer) -> Bool {
    key.count == 1 && (key[0] == nilFirst || key[0] == nilLast)
  }
}

/// The bounds of the keys of all values that are compared with a value by their order.
package struct SortKeyClass: Sendable {
  /// The least key of the class, or less than it, and greater than all of the classes before it.
  package let lower: [UInt8]
  /// Greater than all keys of the class.
  package let upper: [UInt8]

  /// The length of what follows the bytes of a string.
  package static let endMarkLength = 2

  /// The class of an ascending key of one component; nil for one whose values have no order, or another one than their
  /// keys.
  package init?(_ key: [UInt8]) {
    switch key.first {
    case SortKeyTag.false, SortKeyTag.true: (lower, upper) = ([SortKeyTag.false], [SortKeyTag.true + 1])
    case SortKeyTag.negative, SortKeyTag.positive, SortKeyTag.nan:
      (lower, upper) = ([SortKeyTag.negative], [SortKeyTag.nan + 1])
    case SortKeyTag.string: (lower, upper) = ([SortKeyTag.string], [SortKeyTag.string + 1])
    case SortKeyTag.bytes: (lower, upper) = ([SortKeyTag.bytes], [SortKeyTag.bytes + 1])
    default: return nil
    }
  }
}
