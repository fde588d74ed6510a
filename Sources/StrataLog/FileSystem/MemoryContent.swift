// The bytes of a file that stands in memory.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file's bytes in chunks of one size, so that growing never copies what is there. A chunk that nobody has
/// written to is not allocated and reads as zeros.
///
/// Appending is O(bytes) amortised, reading O(bytes). Whoever uses it sees to it that one thread does.
final class MemoryContent {
  static let chunkSize = 64 << 10
  /// Far above any segment; it bounds what a wild offset can make of the table of chunks.
  static let sizeMax: Int64 = 1 << 36

  private(set) var size = 0
  private var chunks: [UnsafeMutableRawPointer?] = []
  var locks = AdvisoryLocks()

  deinit {
    for chunk in chunks { free(chunk) }
  }

  /// Copies what there is at the offset, and returns how much that was.
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

  /// False where there is no memory left; a part may have been written then.
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
    assert((0...Int(Self.sizeMax)).contains(newSize), "a file is as long as one can be, at most")
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
    assert(chunks.count == (size + Self.chunkSize - 1) / Self.chunkSize, "a file has the chunks of its size")
  }

  private func appendChunks(upTo end: Int) {
    while chunks.count * Self.chunkSize < end { chunks.append(nil) }
  }

  /// Calls the body for each chunk that the range touches: its index, the bytes in it, and how many bytes
  /// came before. Ends early, with false, where the body returns false.
  @discardableResult
  private func forEachPiece(
    offset: Int, count: Int, _ body: (_ index: Int, _ range: Range<Int>, _ done: Int) -> Bool
  ) -> Bool {
    var done = 0
    while done < count {
      let (index, start) = (offset + done).quotientAndRemainder(dividingBy: Self.chunkSize)
      let length = min(Self.chunkSize - start, count - done)
      assert(index < chunks.count, "a piece of a file is in a chunk of it")
      guard body(index, start..<start + length, done) else { return false }
      done += length
    }
    return true
  }
}
