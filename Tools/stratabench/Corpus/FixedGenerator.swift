// A generator that gives the same numbers and texts in every run and for every library.

/// SplitMix64 with a fixed seed.
struct FixedGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) }

  /// The step of SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  /// A text of 64 different letters in random order, which compression cannot shorten. They are those from 0x30 to 0x6F:
  /// digits, letters and a few signs, none of which CBOR or JSON writes as more than a byte.
  mutating func text(length: Int) -> String {
    String(unsafeUninitializedCapacity: length) { bytes in
      for index in 0..<length { bytes[index] = UInt8(0x30 + next() >> 58) }
      return length
    }
  }
}
