// SHA-256, by which carriers name and check bodies.

/// The hash of FIPS 180-4. O(bytes).
///
/// No library is used, so that a build without any compiles and tests what needs it. The system's hashes differ from one
/// system to the next.
package struct SHA256 {
  private var state: [UInt32] = [
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
  ]

  /// The hash of bytes, 64 digits in lower case.
  package static func hex(_ bytes: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: of(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// The hash of bytes, 32 bytes.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var hash = SHA256()
    let whole = bytes.count / 64 * 64
    hash.mix(UnsafeRawBufferPointer(rebasing: bytes[..<whole]))
    // What is left, a bit that is set, zeros, and the length in bits.
    var end = Array(bytes[whole...])
    end.append(0x80)
    while end.count % 64 != 56 { end.append(0) }
    let bits = UInt64(bytes.count) << 3
    for shift in stride(from: 56, through: 0, by: -8) { end.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    end.withUnsafeBytes { hash.mix($0) }
    return hash.state.flatMap { word in
      [24, 16, 8, 0].map { shift in UInt8(truncatingIfNeeded: word >> UInt32(shift)) }
    }
  }

  /// Mixes whole blocks of 64 bytes in.
  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    assert(bytes.count % 64 == 0)
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      Self.constants.withUnsafeBufferPointer { constants in
        state.withUnsafeMutableBufferPointer { state in
          for block in stride(from: 0, to: bytes.count, by: 64) {
            for index in 0..<16 {
              let word = bytes.loadUnaligned(fromByteOffset: block + 4 * index, as: UInt32.self)
              words[index] = UInt32(bigEndian: word)
            }
            for index in 16..<64 {
              let (early, late) = (words[index - 15], words[index - 2])
              let first = early.rotated(7) ^ early.rotated(18) ^ early >> 3
              let second = late.rotated(17) ^ late.rotated(19) ^ late >> 10
              words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            Self.mix(words, constants, into: state)
          }
        }
      }
    }
  }

  private static func mix(
    _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>,
    into state: UnsafeMutableBufferPointer<UInt32>
  ) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for index in 0..<64 {
      let first =
        h &+ (e.rotated(6) ^ e.rotated(11) ^ e.rotated(25)) &+ (e & f ^ ~e & g) &+ constants[index]
        &+ words[index]
      let second = (a.rotated(2) ^ a.rotated(13) ^ a.rotated(22)) &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  /// The fractions of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
}

extension UInt32 {
  /// Its bits moved to the right, with those that fall out put in on the left.
  fileprivate func rotated(_ count: UInt32) -> UInt32 { self &>> count | self &<< (32 - count) }
}
