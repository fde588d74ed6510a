// Finding a field in the bytes of a document.

internal import StrataDocuments

extension FieldPath {
  /// The CBOR item of the field, as it is in the document; nil if the document does not have the field or the bytes
  /// before it are damaged, and nil for a path to one of the row's own values.
  ///
  /// The keys may be in any order, so a missing field costs a look at every key: O(items), with one comparison and one
  /// skip for each key of the objects on the path. If a key occurs twice, the first one counts.
  package func find(in document: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard subject == .field else { return nil }
    return nameBytes.withUnsafeBytes { bytes in
      nameEnds.withUnsafeBufferPointer { Self.find(bytes, $0, in: document) }
    }
  }

  /// The item at the path with these names, given as their UTF-8 one after another and the end of each name.
  package static func find(
    _ nameBytes: UnsafeRawBufferPointer, _ nameEnds: UnsafeBufferPointer<Int>,
    in document: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    var item = document
    var start = 0
    for end in nameEnds {
      let name = UnsafeRawBufferPointer(rebasing: nameBytes[start..<end])
      guard let value = value(of: name, in: item) else { return nil }
      item = value
      start = end
    }
    return item
  }

  @inline(__always)
  private static func value(
    of name: UnsafeRawBufferPointer, in object: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    guard let head = CBORItem(object), head.major == 5 else { return nil }
    var offset = head.headLength
    // An object of indefinite length ends at its break byte.
    var pending = head.isIndefinite ? UInt64.max : head.argument
    while pending > 0, offset < object.count {
      if head.isIndefinite, object[offset] == 0xFF { return nil }
      pending &-= 1
      guard let key = CBORItem(object, at: offset) else { return nil }
      let isFound: Bool
      if key.major == 3, !key.isIndefinite {
        guard let content = key.content(in: object, at: offset) else { return nil }
        offset &+= key.headLength &+ content.count
        isFound = content.hasSameBytes(as: name)
      } else {
        guard let end = CBORItem.end(of: object, at: offset) else { return nil }
        isFound = key.major == 3 && isChunkedText(object, from: offset, to: end, equalTo: name)
        offset = end
      }
      guard let end = CBORItem.end(of: object, at: offset) else { return nil }
      if isFound { return UnsafeRawBufferPointer(rebasing: object[offset..<end]) }
      offset = end
    }
    return nil
  }

  /// Whether a key of indefinite length equals this name.
  @inline(never)
  private static func isChunkedText(
    _ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int, equalTo name: UnsafeRawBufferPointer
  ) -> Bool {
    var reader = CBORReader(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    guard let text = try? reader.readText() else { return false }
    return text.utf8.elementsEqual(name)
  }
}
