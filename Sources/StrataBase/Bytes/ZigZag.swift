// Signed numbers as unsigned ones that are small if the distance from 0 is.

/// Signed numbers as varints: small ones of either sign are short.
package enum ZigZag {
  package static func encode(_ number: Int64) -> UInt64 { UInt64(bitPattern: number << 1 ^ number >> 63) }

  package static func decode(_ number: UInt64) -> Int64 {
    Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }
}
