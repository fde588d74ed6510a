// A Bloom filter whose query reads one cache line: it says which keys are certainly not in a file.
//
// Blocked (F. Putze, P. Sanders, J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007): the hash selects
// a block of 512 bits, which holds all bits of a key. The bits come from double hashing (A. Kirsch, M. Mitzenmacher,
// "Less Hashing, Same Performance", 2006): each differs from the previous one by a step derived from the same hash.
// About 1 in 100 absent keys passes the filter.

/// The filter over the keys of an index file, as bytes.
package enum KeyFilter {
  static var bitsPerKey: Int { 10 }
  static var blockLength: Int { 64 }
  /// How many bits are set for each key.
  static var probeCount: Int { 6 }

  /// The length in bytes of a filter for that many keys: whole blocks, 0 for no keys.
  package static func length(forKeys count: Int) -> Int {
    (count * bitsPerKey + blockLength * 8 - 1) / (blockLength * 8) * blockLength
  }

  /// Makes a filter of keys with these hashes.
  package static func make(_ hashes: [UInt64]) -> [UInt8] {
    var filter = [UInt8](repeating: 0, count: length(forKeys: hashes.count))
    filter.withUnsafeMutableBytes { filter in
      for hash in hashes {
        let probes = Probes(hash, filterLength: filter.count)
        for probe in 0..<probeCount {
          let bit = probes.bit(probe)
          filter[probes.block + bit >> 3] |= 1 << UInt8(truncatingIfNeeded: bit & 7)
        }
      }
    }
    return filter
  }

  /// False if no key with this hash was given to `make`.
  @inline(__always)
  package static func mayContain(_ hash: UInt64, in filter: UnsafeRawBufferPointer) -> Bool {
    guard filter.count >= blockLength else { return false }
    let probes = Probes(hash, filterLength: filter.count)
    for probe in 0..<probeCount {
      let bit = probes.bit(probe)
      if filter[probes.block + bit >> 3] >> UInt8(truncatingIfNeeded: bit & 7) & 1 == 0 { return false }
    }
    return true
  }

  /// The bits of one hash.
  private struct Probes {
    /// The offset of the block.
    let block: Int
    private let first: UInt32
    private let step: UInt32

    @inline(__always)
    init(_ hash: UInt64, filterLength: Int) {
      assert(filterLength > 0 && filterLength % KeyFilter.blockLength == 0, "a filter is made of blocks")
      // The upper half of the product scales the hash to the number of blocks without a division.
      let scaled = hash.multipliedFullWidth(by: UInt64(filterLength / KeyFilter.blockLength)).high
      block = Int(scaled) * KeyFilter.blockLength
      assert(block + KeyFilter.blockLength <= filterLength, "the block of a hash lies in the filter")
      first = UInt32(truncatingIfNeeded: hash)
      step = first >> 17 | first << 15
    }

    /// The probe's bit in the block: the top nine bits of a number that grows by `step` for each probe.
    @inline(__always)
    func bit(_ probe: Int) -> Int {
      Int((first &+ UInt32(truncatingIfNeeded: probe) &* step) >> 23)
    }
  }
}
