// A range of a segment's bytes in memory, moved along the file as its blocks are walked.

internal import StrataBase

/// Reads ahead in large steps, so that a walk over many small blocks costs few system calls.
package struct SegmentWindow: ~Copyable {
  package let file: any File
  private var buffer: UnsafeMutableRawBufferPointer
  private var start: Int64 = 0
  private var count = 0
  private let step: Int

  /// Creates a window that reads `step` bytes at a time unless more are requested.
  package init(file: any File, step: Int = 1 << 20) {
    self.file = file
    self.step = step
    buffer = .allocate(byteCount: step, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// Up to `length` bytes at `offset`, fewer only at the end of the file or at `limit`. The pointer is valid
  /// until the next call.
  package mutating func bytes(
    at offset: UInt64, length: Int, limit: UInt64
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    guard offset < limit, let place = Int64(exactly: offset) else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    if place >= start, length <= count, place - start <= Int64(count - length) { return slice(place, length) }
    var length = length
    if length > buffer.count {
      // `limit` may come from a wrong mark: the buffer never grows beyond the length of the file.
      length = min(length, Int(max(0, try file.size() - place)))
    }
    if length > buffer.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: length, alignment: 16)
    }
    let left = Int(min(limit - offset, UInt64(Int.max)))
    let wanted = min(max(length, min(step, buffer.count)), left)
    start = place
    count = 0
    do throws(StoreError) {
      count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: place)
    } catch {
      // An unreadable sector in the part that is only read ahead must not prevent reads of the bytes before it.
      let needed = min(length, wanted)
      guard needed < wanted else { throw error }
      count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<needed]), at: place)
    }
    return slice(place, min(length, count))
  }

  /// Drops the bytes read so far, because they may have changed since.
  package mutating func invalidate() { count = 0 }

  private func slice(_ place: Int64, _ length: Int) -> UnsafeRawBufferPointer {
    let from = Int(place - start)
    assert(from >= 0 && from + length <= count, "a slice lies within the bytes that were read")
    assert(count <= buffer.count, "the bytes that were read fit in the buffer")
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[from..<from + length])
  }
}
