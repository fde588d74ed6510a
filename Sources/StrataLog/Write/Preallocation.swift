// Zeros written ahead of the log, so that a sync of a small group has no new length to record.

internal import StrataBase

/// What stands behind the end of the log in the active segment: written zeros, up to a known place. FORMAT.md,
/// "Preallocation", says why and when. Belongs to one thread at a time.
struct Preallocation {
  /// A group of this many bytes or more is not prepared for: its own writing costs as much as its sync, and
  /// writing the same place twice would not pay.
  static let groupSizeLimit = 64 << 10

  /// Zeros are written up to this far ahead; 0 where they are not wanted.
  private let step: UInt64
  /// No zeros are written from here on: the segment is closed soon.
  private let limit: UInt64
  /// The file's length, or less where zeros could not be given back. Never before the end of the log.
  private(set) var end: UInt64
  /// Small groups in a row that made the file longer, counted up to `groupsBefore`.
  private var growths = 0
  /// So many it takes before anything is written ahead: a store that writes one group and is closed again, or
  /// writes large ones, would pay for zeros and gain nothing.
  private static let groupsBefore = 2
  /// True once there was no room for zeros. They are not tried again before the next segment.
  private var isRefused = false

  /// - Parameter end: the length of the file. Behind the end of the log it holds nothing but zeros, or a torn tail
  ///   that is cut off before anything is written.
  init(_ options: StoreOptions, end: UInt64) {
    // What is only buffered waits for no sync.
    step = options.durability == .buffered ? 0 : UInt64(options.preallocationStep)
    limit = UInt64(options.segmentSizeTarget)
    self.end = end
  }

  /// The segment was cut here: nothing is written ahead any more.
  mutating func isCut(to end: UInt64) {
    assert(end <= self.end, "a cut makes a file no longer")
    self.end = end
  }

  /// A new segment begins, and its file ends here.
  mutating func beginSegment(end: UInt64) {
    self.end = end
    isRefused = false
  }

  /// A group was written up to `groupEnd`. Where it ran past the zeros, and small groups are what this store
  /// writes, new ones follow it, and its own sync covers them. A disk that has no room for them is no error.
  mutating func follow(groupEnd: UInt64, length: Int, in file: any File) {
    guard groupEnd > end else { return }
    end = groupEnd
    growths = length < Self.groupSizeLimit ? min(growths + 1, Self.groupsBefore) : 0
    if growths == Self.groupsBefore { extend(file, after: groupEnd) }
  }

  /// True where half of the zeros or more are used up, and the time before the next group is right for more.
  func isDue(at offset: UInt64) -> Bool {
    growths == Self.groupsBefore && !isRefused && step > 0 && end < min(offset + step / 2, limit & ~4095)
  }

  /// Writes zeros up to a step behind `offset`, unsynced.
  mutating func extend(_ file: any File, after offset: UInt64) {
    assert(offset <= end, "zeros are written behind the end of the log")
    // Up to a whole page, so that no sync has a part of one to write twice.
    let target = min(offset + step, limit) & ~4095
    guard step > 0, !isRefused, target > end else { return }
    do throws(StoreError) {
      try Self.writeZeros(to: file, from: end, upTo: target)
      end = target
    } catch {
      isRefused = true
      // The room that they took is for the log. If even this fails, they are zeros and no harm.
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
