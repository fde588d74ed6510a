// Requests to the API of JetStream, and its answers, which are hostile until they are read.

internal import StrataBase
internal import StrataDocuments
internal import StrataReplica

extension DocumentValue {
  var unsigned: UInt64? {
    switch self {
    case .int(let value): UInt64(exactly: value)
    case .uint(let value): value
    default: nil
    }
  }

  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// A value that is there and is not what fields have that were left out.
  var isSet: Bool {
    switch self {
    case .null, .bool(false), .int(0): false
    case .string(let text): !text.isEmpty
    case .array(let items): !items.isEmpty
    case .object(let members): !members.isEmpty
    default: true
    }
  }

  /// The items of an array; none of anything else.
  var items: [DocumentValue] { if case .array(let items) = self { Array(items) } else { [] } }
}

/// An answer of the API: an object, which may be an error.
struct APIAnswer {
  let value: DocumentValue
  let error: APIError?

  /// nil if the bytes are no such answer.
  init?(_ bytes: [UInt8]) {
    guard let value = try? DocumentValue(json: bytes), case .object = value else { return nil }
    self.value = value
    if let error = value["error"], error.isSet {
      self.error = APIError(
        code: Int(clamping: error["err_code"]?.unsigned ?? 0), text: error["description"]?.text ?? "")
    } else {
      error = nil
    }
  }
}

/// What a server says of a request that it refuses.
struct APIError: Equatable, Sendable {
  /// The number that says what it is. The class beside it, as of HTTP, does not: a full stream has that of a try later.
  let code: Int
  let text: String

  var sentence: String { "the server answers \(code)" + (text.isEmpty ? "" : ", “\(text.prefix(200))”") }
}

/// The numbers of errors that decide something.
enum APICode {
  static let notAvailable = 10008
  static let insufficient = 10023
  static let noPeers = 10005
  static let resourcesExceeded = 10002
  static let memoryExceeded = 10028
  static let messageNotFound = 10037
  static let sequenceNotFound = 10043
  static let storageExceeded = 10047
  static let messageTooLarge = 10054
  static let nameInUse = 10058
  static let streamNotFound = 10059
  static let wrongLastSequence = 10071
  static let replicasWithoutCluster = 10074
  static let notEnabledForAccount = 10039
  static let notEnabled = 10076
  static let storeFailed = 10077
  static let noClusterLeader = 10009
  static let messagesExceeded = 10122
  static let wrongLastSequenceInFlight = 10164
  static let batchDisabled = 10174
  static let batchIncomplete = 10176
}
