// The bytes of a file in memory.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file's bytes in chunks of one size, so that growing never copies existing bytes. A chunk that was never written to
/// is not allocated and reads as zeros.
///
/// Appending is O(bytes) amortised, reading O(bytes). Not thread-safe: its user must ensure that one thread at a time
/// uses it.
final class MemoryContent {
  static let chunkSize = 64 << 10
  /// Far larger than any segment; it limits how far a wrong offset can grow the table of chunks.
  static let sizeMax: Int64 = 1 << 36

  private(set) var size = 0
  private var chunks: [UnsafeMutableRawPointer?] = []
  var locks = AdvisoryLocks()

  deinit {
    for chunk in chunks { free(chunk) }
  }

  /// Copies the bytes at the offset, and returns their number.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    assert(size <= chunks.count * Self.chunkSize, "chunks cover all of a file")
    let count = min(buffer.count, size - offset)
    guard count > 0 else { return 0 }
    forEachPiece(offset: offset, count: count) { index, range, done in
      let target = buffer.baseAddress! + done
      if let chunk = chunks[index] {
        memcpy(target, chunk + range.lowerBound, range.count)
      } else {
        memset(target, 0, range.count)
      }
      return true
    }
    return count
  }

  /// Returns false if memory runs out; part of the bytes may have been written by then.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard !bytes.isEmpty else { return true }
    let end = offset + bytes.count
    appendChunks(upTo: end)
    return forEachPiece(offset: offset, count: bytes.count) { index, range, done in
      if chunks[index] == nil { chunks[index] = calloc(1, Self.chunkSize) }
      guard let chunk = chunks[index] else { return false }
      memcpy(chunk + range.lowerBound, bytes.baseAddress! + done, range.count)
      size = max(size, index * Self.chunkSize + range.upperBound)
      return true
    }
  }

  /// Cuts, or extends with zeros.
  func truncate(to newSize: Int) {
    assert((0...Int(Self.sizeMax)).contains(newSize), "a file is not longer than sizeMax")
    let kept = (newSize + Self.chunkSize - 1) / Self.chunkSize
    if newSize < size {
      for chunk in chunks.dropFirst(kept) { free(chunk) }
      chunks.removeLast(chunks.count - kept)
      // What is cut off must not come back when the file grows again.
      let used = newSize % Self.chunkSize
      if used > 0, let chunk = chunks[kept - 1] { memset(chunk + used, 0, Self.chunkSize - used) }
    } else {
      appendChunks(upTo: newSize)
    }
    size = newSize
    assert(
      chunks.count == (size + Self.chunkSize - 1) / Self.chunkSize,
      "a file has as many chunks as its size needs")
  }

  private func appendChunks(upTo end: Int) {
    while chunks.count * Self.chunkSize < end { chunks.append(nil) }
  }

  /// Calls the body for each chunk that the range touches: its index, the bytes in it, and how many bytes precede them
  /// in the range. Returns false as soon as the body does.
  @discardableResult
  private func forEachPiece(
    offset: Int, count: Int, _ body: (_ index: Int, _ range: Range<Int>, _ done: Int) -> Bool
  ) -> Bool {
    var done = 0
    while done < count {
      let (index, start) = (offset + done).quotientAndRemainder(dividingBy: Self.chunkSize)
      let length = min(Self.chunkSize - start, count - done)
      assert(index < chunks.count, "every piece of a file lies in one of its chunks")
      guard body(index, start..<start + length, done) else { return false }
      done += length
    }
    return true
  }
}
