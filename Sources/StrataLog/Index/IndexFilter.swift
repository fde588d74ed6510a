// The filter of an index file, read once it is worth it.

internal import StrataBase

/// The filter over the keys of an index file.
///
/// It is a tenth of the file, and a lookup without it reads one chunk. A process that looks up one stream in a long log
/// would read the filters of all segments for a chunk of each. So a filter that is longer than a chunk is read after a
/// few lookups.
struct IndexFilter: Sendable {
  /// The number of lookups without the filter.
  static let lookupCountMax = 4

  /// What a lookup is to do.
  enum Answer {
    case absent, maybe
    /// The filter is to be read.
    case due
  }

  let offset: UInt64
  /// The length in bytes, in memory as in the file.
  let byteCount: Int
  private let checksum: UInt32
  private let kept: Lock<(lookupCount: Int, bytes: FileBytes?)>

  init(_ trailer: IndexTrailer) {
    (offset, checksum) = (trailer.filterOffset, trailer.filterChecksum)
    byteCount = Int(trailer.filterLength)
    let isShort = byteCount <= IndexFormat.chunkLengthTarget
    kept = Lock((isShort ? Self.lookupCountMax : 0, nil))
  }

  /// Whether a key with this hash may be in the file, as far as that is known without reading. Counts as a lookup.
  func look(_ hash: UInt64) -> Answer {
    let (bytes, isDue) = kept.withLock { kept in
      if kept.bytes == nil, kept.lookupCount < Self.lookupCountMax {
        kept.lookupCount += 1
        return (kept.bytes, false)
      }
      return (kept.bytes, kept.bytes == nil)
    }
    if isDue { return .due }
    guard let bytes else { return .maybe }
    return bytes.withBytes { KeyFilter.mayContain(hash, in: $0) } ? .maybe : .absent
  }

  /// Reads the filter. Returns false if it is not as it was written.
  func read(from file: any File) throws(StoreError) -> Bool {
    guard let bytes = try FileBytes(file, at: offset, count: byteCount),
      bytes.withBytes({ $0.checksum() }) == checksum
    else { return false }
    kept.withLock { $0.bytes = bytes }
    return true
  }
}
