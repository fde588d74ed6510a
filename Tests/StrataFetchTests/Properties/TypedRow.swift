// A typed row, which the key paths of random requests read.

internal import StrataDocuments
internal import StrataEvents

struct TypedRow: Codable, Identifiable, Sendable, Equatable {
  struct Inner: Codable, Sendable, Equatable {
    var l: Double?
  }

  var id: String
  var s: String?
  var k: Int?
  var m: Inner?
  var flag: Bool?

  /// Whether every field of a document is either absent or a value of its type.
  static func canDecode(_ document: DocumentObject) -> Bool {
    switch document["s"] ?? .null {
    case .null, .string: break
    default: return false
    }
    switch document["k"] ?? .null {
    case .null, .int: break
    default: return false
    }
    switch document["m"] ?? .null {
    case .null: return true
    case .object(let inner):
      switch inner["l"] ?? .null {
      case .null, .double: return true
      default: return false
      }
    default: return false
    }
  }
}
