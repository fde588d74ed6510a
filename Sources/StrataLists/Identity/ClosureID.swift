// The id that a program gives to a closure or a predicate of a request.

internal import StrataDocuments

/// An id as the deterministic CBOR of the program's value: the same bytes in every process.
struct ClosureID: Hashable, Sendable {
  let bytes: [UInt8]
}

extension ClosureID: CustomStringConvertible {
  /// A string as it is, any other value as JSON.
  var description: String {
    switch try? DocumentValue(cbor: bytes) {
    case .string(let text)?: text
    case let value?: value.json()
    case nil: "an id"
    }
  }
}
