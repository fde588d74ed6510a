// Parts of a long payload, compressed separately and joined to one LZ4 block.

internal import CLZ4
internal import CStrata
internal import StrataBase

/// A part of a payload as LZ4 has compressed it.
///
/// An append is never divided between blocks, so the payload of a large one is long. Its parts can be compressed at the
/// same time by several threads. Joined, they are an ordinary LZ4 block: no match of a part refers to another one, and
/// the bytes are the same whichever thread compressed them.
struct CompressedPart: @unchecked Sendable {
  // Safe to send: what makes and joins the parts keeps the memory, and nothing changes it meanwhile.

  /// The least length of a part, in bytes before the compression. Shorter ones find fewer repetitions: these take one
  /// hundredth more room than a payload in one piece.
  static let lengthMin = 96 << 10

  /// The LZ4 block of this part alone.
  var bytes: UnsafeRawBufferPointer
  /// The offset of its last sequence.
  var last: Int

  /// Of how many parts a payload of this length consists.
  static func count(in length: Int) -> Int { max(1, length / lengthMin) }

  /// The range of one of the parts in the payload.
  static func range(_ number: Int, of count: Int, in length: Int) -> Range<Int> {
    length * number / count..<length * (number + 1) / count
  }

  /// Compresses a part. The target has room for `Compression.bound` of its length.
  init(_ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) {
    let source = raw.baseAddress!.assumingMemoryBound(to: CChar.self)
    let written = LZ4_compress_default(
      source, target.assumingMemoryBound(to: CChar.self), Int32(raw.count),
      LZ4_compressBound(Int32(raw.count)))
    precondition(written > 0, "LZ4 compresses into the room that it asks for")
    bytes = UnsafeRawBufferPointer(start: target, count: Int(written))
    last = strata_lz4_last_sequence(
      target.assumingMemoryBound(to: UInt8.self), Int(written), Self.endsPlainly ? 1 : 0)
    precondition(bytes.indices.contains(last), "LZ4 writes whole sequences")
  }

  /// Whether this version of the library is known to write no bits of a match into the token of the last sequence.
  private static let endsPlainly = LZ4_versionNumber() < 1_11_00
}

extension Compression {
  /// Compresses a payload in parts, one after another. `target` has room for `bound` of the length.
  static func compressParts(
    of raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    let count = CompressedPart.count(in: raw.count)
    var scratch = RawBuffer(capacity: bound(raw.count) + count * bound(0))
    let parts = (0..<count).map { number -> CompressedPart in
      let range = CompressedPart.range(number, of: count, in: raw.count)
      let place = scratch.reserve(bound(range.count))
      scratch.count += bound(range.count)
      return CompressedPart(UnsafeRawBufferPointer(rebasing: raw[range]), into: place)
    }
    return join(parts[...], of: raw.count, into: target)
  }

  /// Joins the parts of a payload, if that saves at least an eighth of its length.
  static func join(
    _ parts: ArraySlice<CompressedPart>, of rawCount: Int, into target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    let sum = parts.reduce(0) { $0 + $1.bytes.count }
    guard let first = parts.first, sum <= storedMax(of: rawCount), sum <= target.count else { return nil }
    let place = target.baseAddress!.assumingMemoryBound(to: UInt8.self)
    target.copyMemory(from: first.bytes)
    var (length, last) = (first.bytes.count, first.last)
    for part in parts.dropFirst() {
      let bytes = part.bytes.assumingMemoryBound(to: UInt8.self)
      length = strata_lz4_join(place, length, last, bytes.baseAddress!, bytes.count)
      // A part of which nothing was compressed only makes the last sequence longer.
      if part.last > 0 { last = length - (part.bytes.count - part.last) }
    }
    assert(length <= sum, "joined parts are no longer than separate ones")
    return length
  }
}
