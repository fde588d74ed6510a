// Reads many records of one run in the order in which they are in its file.

internal import StrataBase

/// Reads records and keeps none of them. Belongs to one thread at a time.
///
/// What follows a record is read with it if the last one was near, so that the system is not called for each record. One
/// that is far from the last is read alone.
final class RunSweep {
  private let reader: RunReader
  private let buffer: UnsafeMutableRawBufferPointer
  /// The part of the file that is in the buffer.
  private(set) var known = UInt64(0)..<0

  /// - Parameter length: the most bytes that are read at a time. A longer record is read as without a sweep.
  init(_ reader: RunReader, length: Int) {
    self.reader = reader
    buffer = .allocate(byteCount: max(1, length), alignment: 16)
  }

  deinit { buffer.deallocate() }

  func record(at place: RunPlace) throws(StatePage.Damage) -> RunRecord {
    let (start, length) = (place.offset, UInt64(place.length))
    guard start <= reader.length, length <= min(UInt64(buffer.count), reader.length - start) else {
      return try reader.record(at: place)
    }
    if start < known.lowerBound || start + length > known.upperBound {
      let isNear =
        !known.isEmpty && known.lowerBound <= start && start <= known.upperBound + UInt64(buffer.count)
      try read(from: start, count: isNear ? min(UInt64(buffer.count), reader.length - start) : length)
    }
    let first = Int(start - known.lowerBound)
    return try reader.record(
      at: place, from: UnsafeRawBufferPointer(rebasing: buffer[first..<first + Int(length)]))
  }

  private func read(from start: UInt64, count: UInt64) throws(StatePage.Damage) {
    // Nothing is known of the buffer after a failure.
    known = 0..<0
    try reader.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]), at: start)
    known = start..<start + count
  }
}
