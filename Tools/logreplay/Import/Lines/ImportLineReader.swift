// Splits an input into numbered lines, in memory bounded by the longest line.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// One line of the input.
struct ImportLine {
  /// The line's number, from 1.
  var number: UInt64
  /// The line without the white space at its end: a line whose end was not written yet, or was written as CR LF, is the
  /// same line. Valid until the next line is requested; empty if the line is too long.
  var bytes: UnsafeRawBufferPointer
  /// The line with the white space at its end. It was a part of the hashes in append ids once.
  var raw: UnsafeRawBufferPointer
  var isTooLong = false

  /// Whether the line holds nothing but spaces, tabs and carriage returns.
  var isBlank: Bool { !isTooLong && bytes.isEmpty }
}

/// Splits an input into lines at line feeds. Bytes after the last line feed are a line too; that line is returned only
/// after the input has confirmed that it was not cut short.
final class ImportLineReader {
  private let input: ImportInput
  private let lengthMax: Int
  private let chunkLength = 256 << 10
  /// What some programs write before UTF-8. It is no part of the first line.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private var memory: UnsafeMutableRawBufferPointer
  /// The bytes that were read and not yet returned: `memory[start..<end]`, with no line feed before `searched`.
  private var start = 0
  private var end = 0
  private var searched = 0
  private var number: UInt64 = 0
  private var isAtEnd = false

  /// - Parameter lengthMax: the length above which a line is returned as too long, without its bytes.
  init(_ input: ImportInput, lengthMax: Int) {
    self.input = input
    self.lengthMax = lengthMax
    memory = .allocate(byteCount: chunkLength * 2, alignment: 16)
  }

  deinit { memory.deallocate() }

  func next() throws(CommandFailure) -> ImportLine? {
    var isTooLong = false
    while true {
      if let feed = lineFeed() {
        defer {
          start = feed + 1
          searched = start
        }
        return line(upTo: feed, isTooLong: isTooLong || feed - start > lengthMax)
      }
      if isTooLong || end - start > lengthMax {
        isTooLong = true
        start = end
      }
      searched = end
      guard !isAtEnd else {
        guard isTooLong || start < end else { return nil }
        defer { start = end }
        return line(upTo: end, isTooLong: isTooLong)
      }
      try fill()
    }
  }

  private func line(upTo feed: Int, isTooLong: Bool) -> ImportLine {
    number += 1
    var bytes = UnsafeRawBufferPointer(rebasing: memory[start..<(isTooLong ? start : feed)])
    if number == 1, bytes.starts(with: Self.byteOrderMark) {
      bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Self.byteOrderMark.count))
    }
    let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }.map { $0 + 1 } ?? 0
    let trimmed = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    return ImportLine(number: number, bytes: trimmed, raw: bytes, isTooLong: isTooLong)
  }

  private func lineFeed() -> Int? {
    guard searched < end, let base = memory.baseAddress,
      let found = memchr(base + searched, 0x0A, end - searched)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  private func fill() throws(CommandFailure) {
    if memory.count - end < chunkLength {
      let kept = end - start
      if memory.count - kept >= chunkLength, start > 0 {
        memory.baseAddress?.copyMemory(from: memory.baseAddress! + start, byteCount: kept)
      } else {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[start..<end]))
        memory.deallocate()
        memory = larger
      }
      searched -= start
      start = 0
      end = kept
    }
    let count = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + chunkLength]))
    if count == 0 {
      try input.finish()
      isAtEnd = true
    }
    end += count
  }
}
