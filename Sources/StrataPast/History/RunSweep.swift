// Reads many records of one run in the order in which they are in its file.

internal import StrataBase
internal import StrataTables

/// Reads records without keeping them in memory. Belongs to one thread at a time.
///
/// A record that begins in the part of the file that was read last, or not far after it, is read with what follows it, so
/// that the system is not called for each record. Any other is read alone.
final class RunSweep {
  private let reader: RunReader
  private let buffer: UnsafeMutableRawBufferPointer
  /// The part of the file that is in the buffer.
  private(set) var known = UInt64(0)..<0

  /// - Parameter length: the most bytes that are read at a time. A longer record is read through the reader's cache.
  init(_ reader: RunReader, length: Int) {
    self.reader = reader
    buffer = .allocate(byteCount: max(1, length), alignment: 16)
  }

  deinit { buffer.deallocate() }

  func record(at address: RecordAddress) throws(PageDamage) -> RunRecord {
    let (start, length) = (address.offset, UInt64(address.length))
    guard start <= reader.length, length <= min(UInt64(buffer.count), reader.length - start) else {
      return try reader.record(at: address)
    }
    if start < known.lowerBound || start + length > known.upperBound {
      let isNear =
        !known.isEmpty && known.lowerBound <= start && start <= known.upperBound + UInt64(buffer.count)
      let isRead =
        isNear && (try? read(from: start, count: min(UInt64(buffer.count), reader.length - start))) != nil
      // What follows may be broken where the record is not.
      if !isRead { try read(from: start, count: length) }
    }
    let first = Int(start - known.lowerBound)
    return try reader.record(
      at: address, from: UnsafeRawBufferPointer(rebasing: buffer[first..<first + Int(length)]))
  }

  private func read(from start: UInt64, count: UInt64) throws(PageDamage) {
    // Nothing is known of the buffer after a failure.
    known = 0..<0
    try reader.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]), at: start)
    known = start..<start + count
  }
}
