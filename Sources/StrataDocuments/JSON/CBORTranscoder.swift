// JSON texts as CBOR, one after the other.

/// Makes CBOR of JSON texts in one pass, as `DocumentValue(json:)` reads them and without such a document in between: the
/// memory for a text of any length is that of its CBOR, which has a limit. Up to a mebibyte of it is kept from one text to
/// the next.
package struct CBORTranscoder: ~Copyable {
  private var writer = CBORWriter(capacity: leastCapacity)
  private var maps = CBOROpenMaps()

  private static let leastCapacity = 4096
  private static let keptLengthMax = 1 << 20

  package init() {}

  /// The value that a text contains. O(length).
  ///
  /// - Parameters:
  ///   - lengthMax: how many bytes the value may take.
  ///   - rounded: set to the column of the first number that is not kept, from 1, and the double that it became.
  /// - Throws: why the text is not valid, or `tooLarge`. Of a key that occurs twice in a text of more than a mebibyte the
  ///   name is not said.
  package mutating func cbor(
    json text: UnsafeRawBufferPointer, lengthMax: Int, rounded: inout (column: Int, value: Double)?
  ) throws(JSONError) -> [UInt8] {
    let bytes = text.assumingMemoryBound(to: UInt8.self)
    defer {
      if writer.count > Self.keptLengthMax { writer = CBORWriter(capacity: Self.leastCapacity) }
      writer.removeAll()
    }
    var parser = JSONParser(bytes, noticesRounding: true)
    parser.encodedLengthMax = lengthMax
    do throws(JSONParser.Failure) { try parser.transcodeDocument(to: &writer, &maps) } catch {
      maps.removeAll()
      // To read the document says which key it is.
      if case .duplicateKey = error.reason, text.count <= Self.keptLengthMax {
        _ = try DocumentValue(json: text)
      }
      throw JSONError(error.reason, at: error.offset, in: bytes)
    }
    rounded = parser.firstRounded.map { first in
      (JSONError(.numberOutOfRange, at: first.offset, in: bytes).column, first.value)
    }
    return writer.bytes
  }
}
