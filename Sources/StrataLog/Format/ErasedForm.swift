// The length of an event after its content is erased.

internal import StrataBase

/// The erased form of an event: it keeps its names and its revision, and has the hash and the length of its content in
/// place of the content. A content of less than 9 bytes is shorter than these two.
enum ErasedForm {
  /// The most bytes that an event can grow by: if its content had 4 bytes, and its length takes one byte more.
  static let growthMax = 6

  /// The number of bytes after the event's length prefix.
  static func bodyLength(namesLength: Int, contentLength: Int) -> Int {
    1 + 1 + 8 + namesLength + 8 + Varint.length(UInt64(contentLength))
  }

  /// The same, including the length prefix.
  static func length(namesLength: Int, contentLength: Int) -> Int {
    let body = bodyLength(namesLength: namesLength, contentLength: contentLength)
    return Varint.length(UInt64(body)) + body
  }
}

extension EventView {
  /// The length of the content to be erased. An opaque event's hash is stored separately and stays.
  var erasableLength: Int { kind == EventKind.event ? content.count : payload.count }

  /// The number of bytes that the event takes once it is erased.
  var erasedLength: Int { ErasedForm.length(namesLength: names.count, contentLength: erasableLength) }
}
