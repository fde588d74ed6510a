// Splits an input into numbered lines of JSON, in memory bounded by the longest line.

internal import LogreplayShell
internal import StrataDocuments

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Splits an input into lines at line feeds. Bytes after the last line feed are a line too; that line is returned only
/// after the input has confirmed that it was not cut short.
///
/// White space at the end of a line is no part of it: a line whose end was not written yet, or was written as CR LF, is
/// the same line. It was a part of the hashes in append ids once.
final class ImportLineReader: ImportRecordReader {
  let noun = "line"
  let window: ImportWindow
  private let lengthMax: Int
  /// What some programs write before UTF-8. It is no part of the first line.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// How many of the window's bytes have no line feed.
  private var searched = 0
  private var number: UInt64 = 0
  private(set) var endsInLine = false
  private var objects = ImportJSONObject()

  /// - Parameter lengthMax: the length above which a line is returned as too long, without its bytes.
  init(_ input: any ImportByteSource, lengthMax: Int) {
    window = ImportWindow(input)
    self.lengthMax = lengthMax
  }

  func next() throws(CommandFailure) -> ImportRecord? {
    var isTooLong = false
    while true {
      let bytes = window.bytes
      if let feed = lineFeed(in: bytes) {
        window.take(feed + 1)
        searched = 0
        return line(bytes[..<feed], isTooLong: isTooLong || feed > lengthMax)
      }
      if isTooLong || bytes.count > lengthMax {
        isTooLong = true
        window.take(bytes.count)
      }
      searched = window.bytes.count
      guard try window.fill() else {
        let rest = window.bytes
        guard isTooLong || !rest.isEmpty else { return nil }
        window.take(rest.count)
        let line = line(rest[...], isTooLong: isTooLong)
        endsInLine = !line.isBlank
        return line
      }
    }
  }

  func decode(
    _ bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportBadRecord) -> ImportDecoding {
    try objects.decode(bytes, to: &payload, noun: noun)
  }

  func place(
    of field: ImportFieldPath, in bytes: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    ImportJSONPlace.place(of: field, in: bytes)
  }

  private func line(_ line: Slice<UnsafeRawBufferPointer>, isTooLong: Bool) -> ImportRecord {
    number += 1
    var bytes = UnsafeRawBufferPointer(rebasing: isTooLong ? line.prefix(0) : line)
    if number == 1, bytes.starts(with: Self.byteOrderMark) {
      bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Self.byteOrderMark.count))
    }
    let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }.map { $0 + 1 } ?? 0
    let trimmed = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    return ImportRecord(
      number: number, line: number, bytes: trimmed, raw: bytes, isTooLong: isTooLong,
      isBlank: !isTooLong && trimmed.isEmpty)
  }

  private func lineFeed(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard searched < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + searched, 0x0A, bytes.count - searched)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }
}
