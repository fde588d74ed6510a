// The objects of event lines, as CBOR in one pass.

internal import StrataDocuments

/// Encodes objects of JSON without a document in between. Memory is kept from one to the next.
struct EventLineObjects: ~Copyable {
  private var writer = CBORWriter(capacity: 4096)
  private var maps = CBOROpenMaps()

  /// The longest text whose object is read here, and the longest object after which its memory is kept.
  private static let lengthMax = 1 << 20

  /// The object that a text is. Nil for other values and long texts, and for what is not valid, or has a number that a
  /// double cannot hold: what reads it then says what it is.
  mutating func cbor(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    guard text.count <= Self.lengthMax else { return nil }
    writer.removeAll()
    var rounded: (column: Int, value: Double)?
    let isObject = writer.writeObject(json: UnsafeRawBufferPointer(rebasing: text), &maps, rounded: &rounded)
    let bytes = isObject && rounded == nil ? writer.bytes : nil
    if writer.count > Self.lengthMax { writer = CBORWriter(capacity: 4096) }
    return bytes
  }
}
