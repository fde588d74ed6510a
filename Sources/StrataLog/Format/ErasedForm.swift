// How long an event is once its content is erased.

internal import StrataBase

/// An erased event keeps its names and its revision, and has the hash and the length of its content in that one's place.
/// A content of less than 9 bytes is shorter than these are.
enum ErasedForm {
  /// The most bytes that an event becomes longer by: its content was of 4 bytes, and its length takes one byte more.
  static let growthMax = 6

  /// Bytes behind the event's length.
  static func bodyLength(namesLength: Int, contentLength: Int) -> Int {
    1 + 1 + 8 + namesLength + 8 + Varint.length(UInt64(contentLength))
  }

  /// The same with the length before them.
  static func length(namesLength: Int, contentLength: Int) -> Int {
    let body = bodyLength(namesLength: namesLength, contentLength: contentLength)
    return Varint.length(UInt64(body)) + body
  }
}

extension EventView {
  /// The length of the content that is to be erased. Of an opaque event the hash is written out and stays.
  var erasableLength: Int { kind == EventKind.event ? content.count : payload.count }

  /// Bytes that the event takes once it is erased.
  var erasedLength: Int { ErasedForm.length(namesLength: names.count, contentLength: erasableLength) }
}
