// Values of the program as bytes that identify them.

internal import StrataDocuments

/// Encodes values that identify parts of requests.
///
/// Bytes are compared instead of the values, so that a request keeps none of the program's objects alive, calls none of
/// its code to be compared, and is the same in every process. Strings are compared by their UTF-8, and NaN equals NaN.
enum StableBytes {
  /// The value as deterministic CBOR; nil if it cannot be encoded. O(size of the value).
  ///
  /// The elements of a set are sorted by their bytes. A set inside another value, and a dictionary whose keys are
  /// neither strings nor integers, are encoded in their own order, so that equal ones may have different bytes.
  static func encoded(_ value: any Encodable) -> [UInt8]? {
    do {
      guard let elements = (value as? any EncodableSet)?.encodableElements else {
        return try CBOREncoder().encode(value)
      }
      let sorted = try elements.map { try DocumentValue(encoding: $0) }
        .map { (value: $0, bytes: $0.cbor()) }
        .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      let whole = DocumentValue.array(sorted.map(\.value))
      return whole.refusal == nil ? whole.cbor() : nil
    } catch {
      return nil
    }
  }
}

/// A set of any values that can be encoded.
private protocol EncodableSet {
  var encodableElements: [any Encodable] { get }
}

extension Set: EncodableSet where Element: Encodable {
  fileprivate var encodableElements: [any Encodable] { Array(self) }
}
