// Finds one field in an encoded document, without decoding the rest.

/// Lookups in a document that is deterministic CBOR.
package enum CBORFields {
  /// The encoded value of a field of an object; nil if the bytes are no object, or do not have it.
  ///
  /// The keys of deterministic CBOR ascend by length, so that the search ends at the first longer one. O(bytes before
  /// the field).
  package static func value(of name: String, in document: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var found: Range<Int>?
    name.withUTF8Bytes { found = range(of: UnsafeRawBufferPointer($0), in: document) }
    return found.map { UnsafeRawBufferPointer(rebasing: document[$0]) }
  }

  /// The UTF-8 of a value that is a text; nil if it is none.
  package static func text(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var reader = CBORReader(value)
    guard let head = try? reader.readHead(), case .text(let length?) = head else { return nil }
    return try? reader.readRaw(count: length)
  }

  private static func range(
    of name: UnsafeRawBufferPointer, in document: UnsafeRawBufferPointer
  ) -> Range<Int>? {
    var reader = CBORReader(document)
    guard let head = try? reader.readHead(), case .map(let count?) = head else { return nil }
    let name = name.assumingMemoryBound(to: UInt8.self)
    for _ in 0..<count {
      guard let key = try? reader.readHead(), case .text(let length?) = key, length <= name.count,
        let bytes = try? reader.readRaw(count: length)
      else { return nil }
      let isFound =
        length == name.count && compareBytes(bytes.assumingMemoryBound(to: UInt8.self), name) == 0
      let start = reader.offset
      guard (try? reader.skip()) != nil else { return nil }
      if isFound { return start..<reader.offset }
    }
    return nil
  }
}
