// Requests to a bucket, in the one form that signatures are right for.

internal import StrataBase

extension BucketPlace {
  /// A request about a key, or about the bucket if there is none.
  ///
  /// - Parameters:
  ///   - query: parameters in any order.
  ///   - answerLengthMax: how much of an answer's body is taken, in bytes. Errors take up to 64 KiB.
  func request(
    _ method: HTTPRequest.Method, _ key: String? = nil, query: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [], body: [UInt8] = [], answerLengthMax: Int = 64 << 10,
    patience: Duration = .seconds(20)
  ) -> HTTPRequest {
    var path = "/"
    if isPathStyle { path += bucket + (key == nil ? "" : "/") }
    if let key { path += PercentCoding.encode(key.utf8, keepingSlashes: true) }
    let endpoint =
      isPathStyle
      ? endpoint
      : BucketEndpoint(isEncrypted: endpoint.isEncrypted, authority: "\(bucket).\(endpoint.authority)")
    var headers = headers
    // Without one, libcurl says that the body is a form's, and some servers read it as that.
    if method == .put || method == .post, !headers.contains(where: { $0.name == "Content-Type" }) {
      headers.append((name: "Content-Type", value: "application/octet-stream"))
    }
    headers.append((name: "x-amz-content-sha256", value: body.withUnsafeBytes { SHA256.hex($0) }))
    return HTTPRequest(
      method: method, endpoint: endpoint, path: path, query: Self.canonical(query),
      headers: headers.map { .init(name: $0.name, value: $0.value) },
      body: body, answerLengthMax: answerLengthMax, patience: patience)
  }

  /// Parameters in the order of their names, then of their values, each with an equals sign, even without a value.
  static func canonical(_ query: [(name: String, value: String)]) -> String {
    let items = query.map { (PercentCoding.encode($0.name.utf8), PercentCoding.encode($0.value.utf8)) }
    return items.sorted { $0 < $1 }.map { "\($0)=\($1)" }.joined(separator: "&")
  }
}
