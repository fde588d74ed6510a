// Zeros written ahead of the log, so that a sync of a small group has no new length to record.

internal import StrataBase

/// The bytes after the end of the log in the active segment: written zeros, up to a known offset. FORMAT.md,
/// "Preallocation", says why and when. Used by one thread at a time.
struct Preallocation {
  /// A group of this many bytes or more gets no zeros in advance: writing it costs as much as its sync, and writing the
  /// same range twice would not pay off.
  static let groupSizeLimit = 64 << 10

  /// How far ahead zeros are written; 0 turns this off.
  private let step: UInt64
  /// The offset from which on no zeros are written: the segment is about to be closed.
  private let limit: UInt64
  /// The file's length, or less if zeros could not be cut off. Never before the end of the log.
  private(set) var end: UInt64
  /// Small groups in a row that made the file longer, counted up to `groupsBefore`.
  private var growths = 0
  /// How many such groups are needed before zeros are written: a store that writes one group and is closed again, or
  /// writes large ones, would pay for zeros and gain nothing.
  private static let groupsBefore = 2
  /// True once there was no room for zeros. The next attempt is made in the next segment.
  private var isRefused = false

  /// - Parameter end: the length of the file. After the end of the log it holds nothing but zeros, or a torn tail that
  ///   is cut off before anything is written.
  init(_ options: StoreOptions, end: UInt64) {
    // Buffered appends do not wait for a sync.
    step = options.durability == .buffered ? 0 : UInt64(options.preallocationStep)
    limit = UInt64(options.segmentSizeTarget)
    self.end = end
  }

  /// Records that the segment was cut at this offset, so that no zeros are left.
  mutating func isCut(to end: UInt64) {
    assert(end <= self.end, "a cut never lengthens a file")
    self.end = end
  }

  /// Starts over for a new segment whose file ends here.
  mutating func beginSegment(end: UInt64) {
    self.end = end
    isRefused = false
  }

  /// Records that a group was written up to `groupEnd`. If it went past the zeros, and the store writes small groups,
  /// new zeros are written after it, and its own sync covers them. A disk without room for them is not an error.
  mutating func follow(groupEnd: UInt64, length: Int, in file: any File) {
    guard groupEnd > end else { return }
    end = groupEnd
    growths = length < Self.groupSizeLimit ? min(growths + 1, Self.groupsBefore) : 0
    if growths == Self.groupsBefore { extend(file, after: groupEnd) }
  }

  /// True if half of the zeros or more are used up; the time before the next group is then right for writing more.
  func isDue(at offset: UInt64) -> Bool {
    growths == Self.groupsBefore && !isRefused && step > 0 && end < min(offset + step / 2, limit & ~4095)
  }

  /// Writes zeros up to one step past `offset`, unsynced.
  mutating func extend(_ file: any File, after offset: UInt64) {
    assert(offset <= end, "zeros are written after the end of the log")
    // Up to a page boundary, so that no sync has to write part of a page twice.
    let target = min(offset + step, limit) & ~4095
    guard step > 0, !isRefused, target > end else { return }
    do throws(StoreError) {
      try Self.writeZeros(to: file, from: end, upTo: target)
      end = target
    } catch {
      isRefused = true
      // Returns the space to the log. If even this fails, the rest is zeros and does no harm.
      try? file.truncate(to: Int64(end))
    }
  }

  private static func writeZeros(
    to file: any File, from start: UInt64, upTo end: UInt64
  ) throws(StoreError) {
    try zeros.lendBytes { zeros throws(StoreError) in
      var place = start
      while place < end {
        let count = min(Int(end - place), zeros.count)
        try file.write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: Int64(place))
        place += UInt64(count)
      }
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 256 << 10)
}
