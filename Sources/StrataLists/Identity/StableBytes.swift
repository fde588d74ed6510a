// Values of the program as bytes that identify them.

internal import StrataDocuments

/// Encodes values that identify parts of requests.
///
/// Bytes are compared instead of the values, so that a request keeps none of the program's objects alive, calls none of
/// its code to be compared, and is the same in every process. Strings are compared by their UTF-8, and NaN equals NaN.
enum StableBytes {
  /// The value as deterministic CBOR; nil if it cannot be encoded. O(size of the value).
  static func encoded(_ value: any Encodable) -> [UInt8]? { try? CBOREncoder().encode(value) }
}
