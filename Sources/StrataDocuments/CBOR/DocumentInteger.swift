// Integers beyond 64 bits, stored exactly as a sign and the bytes of a magnitude.

/// An integer of any size up to 4,096 bytes, without arithmetic: it can only be stored and
/// compared.
///
/// Every value has one form: the magnitude has no leading zeros, and zero is not negative.
public struct DocumentInteger: Hashable, Sendable {
  package let isNegative: Bool
  /// The absolute value, most significant byte first; empty for zero.
  package let magnitude: [UInt8]

  /// Creates an integer from its sign and the bytes of its absolute value, most significant first. Leading zeros
  /// are dropped.
  package init(isNegative: Bool, magnitude: some Sequence<UInt8>) {
    self.magnitude = Array(magnitude.drop { $0 == 0 })
    self.isNegative = isNegative && !self.magnitude.isEmpty
  }

  public init(_ value: some BinaryInteger) {
    var rest = value.magnitude
    var bytes: [UInt8] = []
    while rest != 0 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
    self.init(isNegative: value < 0, magnitude: bytes.reversed())
  }
}

extension DocumentInteger: Comparable {
  public static func < (a: DocumentInteger, b: DocumentInteger) -> Bool {
    if a.isNegative != b.isNegative { return a.isNegative }
    return a.isNegative ? b.magnitudePrecedes(a) : a.magnitudePrecedes(b)
  }

  private func magnitudePrecedes(_ other: DocumentInteger) -> Bool {
    if magnitude.count != other.magnitude.count { return magnitude.count < other.magnitude.count }
    return magnitude.lexicographicallyPrecedes(other.magnitude)
  }
}

extension DocumentInteger {
  /// Creates the integer −1 − n from the bytes of n, which is how CBOR's tag 3 represents it (RFC 8949, 3.4.3).
  init(negativeOffset bytes: [UInt8]) {
    var magnitude = bytes
    var index = magnitude.count - 1
    while index >= 0 {
      magnitude[index] &+= 1
      if magnitude[index] != 0 { break }
      index -= 1
    }
    if index < 0 { magnitude.insert(1, at: 0) }
    self.init(isNegative: true, magnitude: magnitude)
  }

  /// The n of −1 − n for a negative integer, without leading zeros.
  var negativeOffset: [UInt8] {
    assert(isNegative)
    var bytes = magnitude
    var index = bytes.count - 1
    while index >= 0 {
      bytes[index] &-= 1
      if bytes[index] != 0xFF { break }
      index -= 1
    }
    return Array(bytes.drop { $0 == 0 })
  }
}

extension UInt64 {
  /// Creates a number from at most eight bytes, most significant first; nil for more.
  init?(bigEndianBytes bytes: [UInt8]) {
    guard bytes.count <= 8 else { return nil }
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
