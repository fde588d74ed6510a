// Decodes the text of one JSON object to CBOR.

internal import StrataDocuments

/// The decoding of JSON that every format has whose records are JSON.
struct ImportJSONObject: ~Copyable {
  private var maps = CBOROpenMaps()

  /// - Parameter noun: what the record is called.
  mutating func decode(
    _ text: UnsafeRawBufferPointer, to payload: inout CBORWriter, noun: String
  ) throws(ImportBadRecord) -> ImportDecoding {
    var decoding = ImportDecoding()
    if payload.writeObject(json: text, &maps, rounded: &decoding.rounded) { return decoding }
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: text, rounded: &decoding.rounded) } catch {
      throw ImportBadRecord(
        lineOffset: UInt64(error.line - 1), column: error.column, why: error.explanation)
    }
    guard case .object = value else {
      throw ImportBadRecord(
        column: ImportJSONPlace.firstColumn(in: text), why: "the \(noun) is not an object")
    }
    payload.write(value)
    return decoding
  }
}
