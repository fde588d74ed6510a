// The part of an input that is in memory, from which readers take records.

internal import LogreplayShell

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Bytes that were read and not yet taken. Grows with the longest record, and no further: a reader drops what is too
/// long.
final class ImportWindow {
  private let input: any ImportByteSource
  private let chunkLength: Int
  private var memory: UnsafeMutableRawBufferPointer
  private var start = 0
  private var end = 0
  private(set) var isAtEnd = false
  /// The last byte that was read.
  private(set) var lastByte: UInt8?
  /// Called before a read that may wait for the input.
  var willRead: (() -> Void)?

  init(_ input: any ImportByteSource, chunkLength: Int = 256 << 10) {
    self.input = input
    self.chunkLength = chunkLength
    memory = .allocate(byteCount: chunkLength * 2, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// The bytes that were read and not yet taken. Valid until the next `fill`.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[start..<end]) }

  /// Takes bytes from the beginning.
  func take(_ count: Int) {
    assert(count <= end - start, "only bytes that were read are taken")
    start += count
  }

  /// Reads more bytes. Returns false at the end of the input, which has then confirmed that it was not cut short.
  func fill() throws(CommandFailure) -> Bool {
    guard !isAtEnd else { return false }
    makeRoom()
    willRead?()
    let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + chunkLength]))
    if count == 0 {
      try input.finish()
      isAtEnd = true
    }
    end += count
    if count > 0 { lastByte = memory[end - 1] }
    return count > 0
  }

  private func makeRoom() {
    guard memory.count - end < chunkLength else { return }
    let kept = bytes
    if memory.count - kept.count >= chunkLength, start > 0 {
      // The bytes may overlap with where they are moved.
      memory.baseAddress?.copyMemory(from: memory.baseAddress! + start, byteCount: kept.count)
    } else {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
      larger.copyMemory(from: kept)
      memory.deallocate()
      memory = larger
    }
    (start, end) = (0, kept.count)
  }
}
