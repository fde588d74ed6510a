// A model of an object store in memory, which answers as a real one does, and at its worst.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataSimulation

/// Takes requests as a server would: from the path, the query and the headers alone.
///
/// It notes everything in a request that a real server would refuse a signature for, or that no client may send.
final class FakeBucket: HTTPTransport {
  /// How often something goes wrong, from 0 to 1.
  struct Faults {
    /// The request does not arrive.
    var lostRequests = 0.0
    /// It is carried out, and the answer does not arrive.
    var lostAnswers = 0.0
    /// It is carried out after later ones, and has no answer.
    var lateRequests = 0.0
    /// 500 or 503, before or after it is carried out.
    var serverErrors = 0.0
    /// 409 or 429, and nothing is carried out.
    var conflicts = 0.0
    /// An answer in which the connection ends.
    var cutAnswers = 0.0

    static func all(_ probability: Double) -> Faults {
      Faults(
        lostRequests: probability, lostAnswers: probability, lateRequests: probability,
        serverErrors: probability, conflicts: probability, cutAnswers: probability)
    }
  }

  /// What a server does that is no object store to trust.
  enum Lie: String, CaseIterable {
    case ignoresCreate, ignoresStale, refusesRight, replacesNevertheless, hasNoTags, listsNothing,
      keepsRemoved
    case takesEverything
  }

  struct Object: Equatable {
    var bytes: [UInt8]
    var tag: String
  }

  struct State {
    var objects: [String: Object] = [:]
    var uploads: [String: [Int: Object]] = [:]
    var tagCount = 0
    var requests: [HTTPRequest] = []
    var keys: [BucketCredentials] = []
    var violations: [String] = []
    var faults = Faults()
    var random = SeededGenerator(seed: 0)
    var late: [HTTPRequest] = []
    var lie: Lie?
    var versioning = ""
    var lock = ""
    var pageLength = 1000
    /// Answers given instead of those of the model; nil goes on to the model.
    var override: (@Sendable (HTTPRequest, BucketCredentials) -> HTTPResponse?)?

    mutating func happens(_ probability: Double) -> Bool {
      probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }
  }

  let bucket: String
  let state = Lock(State())

  init(bucket: String = "copies") { self.bucket = bucket }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var objects: [String: Object] { state.withLock { $0.objects } }
  var violations: [String] { state.withLock { $0.violations } }
  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  func send(
    _ request: HTTPRequest, signedBy credentials: BucketCredentials, for region: String
  ) throws(HTTPFailure) -> HTTPResponse {
    try state.withLock { state throws(HTTPFailure) in
      state.requests.append(request)
      state.keys.append(credentials)
      check(request, credentials, &state)
      if let answer = state.override?(request, credentials) { return answer }
      while !state.late.isEmpty, Bool.random(using: &state.random) {
        let place = Int.random(in: 0..<state.late.count, using: &state.random)
        _ = carryOut(state.late.remove(at: place), &state)
      }
      if state.happens(state.faults.lostRequests) { throw Self.silence(false) }
      if state.happens(state.faults.lateRequests) {
        state.late.append(request)
        throw Self.silence(true)
      }
      if state.happens(state.faults.conflicts) {
        return Bool.random(using: &state.random)
          ? Self.error(409, "ConditionalRequestConflict") : Self.error(429, "SlowDown")
      }
      if state.happens(state.faults.serverErrors) {
        if Bool.random(using: &state.random) { _ = carryOut(request, &state) }
        return Bool.random(using: &state.random)
          ? Self.error(500, "InternalError") : Self.error(503, "ServiceUnavailable")
      }
      let answer = carryOut(request, &state)
      if state.happens(state.faults.lostAnswers) || state.happens(state.faults.cutAnswers) {
        throw Self.silence(true)
      }
      guard request.method != .head else {
        return HTTPResponse(status: answer.status, headers: answer.headers, body: [], isCut: false)
      }
      let most = answer.status < 300 ? request.answerLengthMax : 64 << 10
      return HTTPResponse(
        status: answer.status, headers: answer.headers, body: Array(answer.body.prefix(most)),
        isCut: answer.body.count > most)
    }
  }

  /// Has everything arrive that has not yet.
  func settle() {
    change { state in
      for request in state.late { _ = carryOut(request, &state) }
      state.late = []
    }
  }

  private static func silence(_ mayHaveHappened: Bool) -> HTTPFailure {
    HTTPFailure(what: "the server does not answer", next: nil, mayHaveHappened: mayHaveHappened)
  }

  static func error(_ status: Int, _ code: String, more: String = "") -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [:],
      body: Array(
        "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>No.</Message>\(more)</Error>".utf8),
      isCut: false)
  }

  static func answer(_ text: String, _ headers: [String: String] = [:], status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Array(text.utf8), isCut: false)
  }

  // MARK: Requests

  private func check(_ request: HTTPRequest, _ credentials: BucketCredentials, _ state: inout State) {
    let items = request.query.split(separator: "&", omittingEmptySubsequences: false)
    let names = items.map { $0.prefix { $0 != "=" } }
    if !request.query.isEmpty, names != names.sorted() || !items.allSatisfy({ $0.contains("=") }) {
      state.violations.append("the query is not as it is signed: \(request.query)")
    }
    let hash = request.body.withUnsafeBytes { SHA256.hex($0) }
    if request.headers.count(where: { $0 == .init(name: "x-amz-content-sha256", value: hash) }) != 1 {
      state.violations.append("the hash of the body is missing")
    }
    let tokens = request.headers.filter { $0.name == "x-amz-security-token" }.map(\.value)
    if tokens != (credentials.token.map { [$0] } ?? []) { state.violations.append("not the session's token") }
    let plain = request.path.utf8.allSatisfy { $0.isVisible && !" +?#\"<>".utf8.contains($0) }
    if !plain || !request.path.hasPrefix("/") { state.violations.append("the path \(request.path)") }
    if Set(request.headers.map { $0.name.lowercased() }).count != request.headers.count {
      state.violations.append("a header is there twice")
    }
  }

  /// The key of a request; nil for one about the bucket.
  private func key(_ request: HTTPRequest) -> String? {
    let isHostStyle = request.endpoint.authority.hasPrefix("\(bucket).")
    let path = isHostStyle ? request.path : String(request.path.dropFirst(bucket.utf8.count + 1))
    let key = PercentCoding.decode(path.utf8.dropFirst()).map { String(decoding: $0, as: UTF8.self) }
    return key?.isEmpty == false ? key : nil
  }

  private func query(_ request: HTTPRequest) -> [String: String] {
    var query: [String: String] = [:]
    for item in request.query.split(separator: "&") {
      let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      query[String(halves[0])] = PercentCoding.decode(halves[1].utf8).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    return query
  }

  private func header(_ request: HTTPRequest, _ name: String) -> String? {
    request.headers.first { $0.name == name }?.value
  }

  private func carryOut(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
    let query = query(request)
    guard let key = key(request) else { return ofBucket(query, &state) }
    switch request.method {
    case .put: return put(request, key, query, &state)
    case .get, .head: return get(request, key, state)
    case .delete:
      if let upload = query["uploadId"] {
        guard state.uploads.removeValue(forKey: upload) != nil else { return Self.error(404, "NoSuchUpload") }
      } else if state.lie != .keepsRemoved {
        state.objects[key] = nil
      }
      return Self.answer("", status: 204)
    case .post: return post(request, key, query, &state)
    }
  }

  private func put(
    _ request: HTTPRequest, _ key: String, _ query: [String: String], _ state: inout State
  ) -> HTTPResponse {
    state.tagCount += 1
    let object = Object(bytes: request.body, tag: "\"t\(state.tagCount)\"")
    let headers = state.lie == .hasNoTags ? [:] : ["etag": object.tag]
    if let upload = query["uploadId"], let number = query["partNumber"].flatMap({ Int($0) }) {
      guard state.uploads[upload] != nil else { return Self.error(404, "NoSuchUpload") }
      state.uploads[upload]?[number] = object
      return Self.answer("", headers)
    }
    let found = state.objects[key]
    if header(request, "If-None-Match") == "*", found != nil, state.lie != .ignoresCreate,
      state.lie != .takesEverything
    {
      if state.lie == .replacesNevertheless { state.objects[key] = object }
      return Self.error(412, "PreconditionFailed")
    }
    if let match = header(request, "If-Match"), state.lie != .ignoresStale, state.lie != .takesEverything {
      guard let found else { return Self.error(404, "NoSuchKey") }
      guard found.tag == match, state.lie != .refusesRight else {
        return Self.error(412, "PreconditionFailed")
      }
    }
    state.objects[key] = object
    return Self.answer("", headers)
  }

  private func get(_ request: HTTPRequest, _ key: String, _ state: State) -> HTTPResponse {
    guard let object = state.objects[key] else { return Self.error(404, "NoSuchKey") }
    let headers = state.lie == .hasNoTags ? [:] : ["etag": object.tag]
    guard let range = header(request, "Range") else {
      return HTTPResponse(status: 200, headers: headers, body: object.bytes, isCut: false)
    }
    let bounds = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int64($0) }
    guard bounds[0] < object.bytes.count else { return Self.error(416, "InvalidRange") }
    let last = min(bounds[1], Int64(object.bytes.count) - 1)
    return HTTPResponse(
      status: 206,
      headers: headers.merging(["content-range": "bytes \(bounds[0])-\(last)/\(object.bytes.count)"]) { $1 },
      body: Array(object.bytes[Int(bounds[0])...Int(last)]), isCut: false)
  }

  private func post(
    _ request: HTTPRequest, _ key: String, _ query: [String: String], _ state: inout State
  ) -> HTTPResponse {
    if query["uploads"] != nil {
      let upload = "upload & \(state.uploads.count)"
      state.uploads[upload] = [:]
      return Self.answer(
        "<InitiateMultipartUploadResult xmlns='x'><Key>k</Key><UploadId>upload &amp; \(state.uploads.count - 1)"
          + "</UploadId></InitiateMultipartUploadResult>")
    }
    guard let upload = query["uploadId"], let parts = state.uploads[upload] else {
      return Self.error(404, "NoSuchUpload")
    }
    var expected = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    for (number, part) in parts.sorted(by: { $0.key < $1.key }) {
      expected += "<Part><PartNumber>\(number)</PartNumber><ETag>\(part.tag)</ETag></Part>"
    }
    expected += "</CompleteMultipartUpload>"
    guard request.body == Array(expected.utf8) else { return Self.error(400, "InvalidPart") }
    state.uploads[upload] = nil
    state.tagCount += 1
    state.objects[key] = Object(
      bytes: parts.sorted { $0.key < $1.key }.flatMap(\.value.bytes), tag: "\"t\(state.tagCount)\"")
    return Self.answer("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
  }

  private func ofBucket(_ query: [String: String], _ state: inout State) -> HTTPResponse {
    if query["versioning"] != nil {
      return Self.answer("<VersioningConfiguration>\(state.versioning)</VersioningConfiguration>")
    }
    if query["object-lock"] != nil {
      guard !state.lock.isEmpty else { return Self.error(404, "ObjectLockConfigurationNotFoundError") }
      return Self.answer(
        "<ObjectLockConfiguration><ObjectLockEnabled>\(state.lock)</ObjectLockEnabled></ObjectLockConfiguration>"
      )
    }
    guard query["list-type"] == "2", query["encoding-type"] == "url", let prefix = query["prefix"],
      let most = query["max-keys"].flatMap({ Int($0) })
    else { return Self.error(400, "InvalidArgument") }
    let after = query["continuation-token"].map { String($0.dropFirst("token &<+ ".count)) } ?? ""
    let names = state.objects.keys.filter { key in
      key.hasPrefix(prefix) && key > after && !key.dropFirst(prefix.count).contains("/")
    }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let page = state.lie == .listsNothing ? [] : names.prefix(min(most, state.pageLength))
    var text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"x\"><EncodingType>url</EncodingType>"
    for key in page {
      // As Amazon does: a space is a plus sign.
      let encoded = PercentCoding.encode(key.utf8, keepingSlashes: true).split(
        separator: "%20", omittingEmptySubsequences: false)
      text += "<Contents><Key>\(encoded.joined(separator: "+"))</Key><Size>1</Size></Contents>"
    }
    let isTruncated = page.count < names.count && state.lie != .listsNothing
    text += "<IsTruncated>\(isTruncated)</IsTruncated>"
    if isTruncated {
      text += "<NextContinuationToken>token &amp;&lt;+ \(page.last ?? "")</NextContinuationToken>"
    }
    return Self.answer(text + "</ListBucketResult>")
  }
}
