// What a bucket's requests and answers are, whatever sends them.

/// Sends requests, each once, and blocks until it is answered.
protocol HTTPTransport: AnyObject, Sendable {
  /// - Parameters:
  ///   - request: what to send, with all headers but those of the signature.
  ///   - credentials: what to sign it with.
  ///   - region: what to sign it for.
  /// - Throws: why there is no answer, or only a part of one. Whether the request was carried out is not known then.
  func send(
    _ request: HTTPRequest, signedBy credentials: BucketCredentials, for region: String
  ) throws(HTTPFailure) -> HTTPResponse
}

/// A request.
struct HTTPRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case delete = "DELETE"
  }

  let method: Method
  let endpoint: BucketEndpoint
  /// The path, with percent signs.
  let path: String
  /// What follows the question mark: parameters in the order of their names, each with an equals sign. May be empty.
  let query: String
  var headers: [Header]
  let body: [UInt8]
  /// How much of an answer's body is taken, in bytes.
  let answerLengthMax: Int
  /// For how long a server may be silent before that counts as no answer.
  let patience: Duration

  var url: String { endpoint.text + path + (query.isEmpty ? "" : "?\(query)") }

  struct Header: Sendable, Equatable {
    let name: String
    let value: String
  }
}

/// An answer.
struct HTTPResponse: Sendable {
  let status: Int
  /// By names in lower case.
  let headers: [String: String]
  let body: [UInt8]
  /// Whether the body is longer than it may be, and `body` only its beginning.
  let isCut: Bool

  /// How many bytes of headers are taken.
  static let headersLengthMax = 64 << 10
}

/// Why there is no answer.
struct HTTPFailure: Error, Sendable, Equatable {
  /// What happened, as a sentence without its full stop.
  let what: String
  /// Whether another try may end otherwise, and what to do if not.
  let next: String?
  /// Whether the request may have been carried out.
  let mayHaveHappened: Bool
}
