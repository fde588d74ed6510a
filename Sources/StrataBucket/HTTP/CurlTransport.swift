// Sends requests with libcurl, which signs them.

#if Bucket
  internal import CCurl
  internal import StrataBase

  /// One request at a time on each handle of libcurl, with handles that are kept for their connections.
  ///
  /// Its one mutable state is the list of handles that nobody uses, which a lock guards. A handle belongs to one thread
  /// from when it is taken from there to when it is put back.
  final class CurlTransport: HTTPTransport {
    private let idle = Lock<[UnsafeMutableRawPointer]>([])
    private let authorities: String?

    private static let idleCountMax = 8
    private static let connectTimeout: Duration = .seconds(5)
    /// What is slower than this, in bytes per second, counts as no answer.
    private static let speedMin = 1024

    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    /// - Parameter authorities: a file of certificates that servers' ones are signed by; nil for the system's.
    init(authorities: String? = nil) { self.authorities = authorities }

    deinit { idle.withLock { handles in for handle in handles { curl_easy_cleanup(handle) } } }

    func send(
      _ request: HTTPRequest, signedBy credentials: BucketCredentials, for region: String
    ) throws(HTTPFailure) -> HTTPResponse {
      guard Self.isReady, let handle = idle.withLock({ $0.popLast() }) ?? curl_easy_init() else {
        throw HTTPFailure(
          what: "libcurl cannot be used", next: "check its installation", mayHaveHappened: false)
      }
      defer {
        // Keeps its connections, and forgets the keys.
        curl_easy_reset(handle)
        let isKept = idle.withLock { handles in
          guard handles.count < Self.idleCountMax else { return false }
          handles.append(handle)
          return true
        }
        if !isKept { curl_easy_cleanup(handle) }
      }
      let headers = try Headers(request.headers)
      defer { headers.free() }
      let sink = CurlSink(handle, lengthMax: request.answerLengthMax)
      let code = request.body.withUnsafeBytes { body -> CURLcode in
        let code = prepare(handle, request, body, headers, sink, credentials, region)
        return code == CURLE_OK ? strata_curl_perform(handle) : code
      }
      let status = Int(strata_curl_status(handle))
      return try withExtendedLifetime(sink) { () throws(HTTPFailure) in
        guard code == CURLE_OK || code == CURLE_WRITE_ERROR && sink.isCut, !sink.hasTooLongHeaders else {
          throw Self.failure(code, request.endpoint)
        }
        return HTTPResponse(status: status, headers: sink.headers, body: sink.body, isCut: sink.isCut)
      }
    }

    // MARK: Options

    private func prepare(
      _ handle: UnsafeMutableRawPointer, _ request: HTTPRequest, _ body: UnsafeRawBufferPointer,
      _ headers: Headers, _ sink: CurlSink, _ credentials: BucketCredentials, _ region: String
    ) -> CURLcode {
      let size = Int64(max(request.body.count, request.answerLengthMax))
      let numbers: [(CURLoption, Int)] = [
        (CURLOPT_NOSIGNAL, 1),
        (CURLOPT_PATH_AS_IS, 1),
        (CURLOPT_FOLLOWLOCATION, 0),
        (CURLOPT_SSL_VERIFYPEER, 1),
        (CURLOPT_SSL_VERIFYHOST, 2),
        (CURLOPT_TCP_KEEPALIVE, 1),
        (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
        (CURLOPT_CONNECTTIMEOUT_MS, Self.connectTimeout.milliseconds),
        // Before a large body it asks whether to go on, which some servers do not answer. The header cannot be left out:
        // libcurl 7.88.1 would sign it nevertheless.
        (CURLOPT_EXPECT_100_TIMEOUT_MS, 100),
        (CURLOPT_LOW_SPEED_LIMIT, Self.speedMin),
        (CURLOPT_LOW_SPEED_TIME, request.patience.milliseconds / 1000),
        // As long as a slow line takes, so that no server holds a thread for good.
        (CURLOPT_TIMEOUT_MS, request.patience.milliseconds + Int(size / 64)),
      ]
      var texts: [(CURLoption, String)] = [
        (CURLOPT_URL, request.url),
        (CURLOPT_PROTOCOLS_STR, request.endpoint.isEncrypted ? "https" : "http"),
        (CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3"),
        (CURLOPT_USERNAME, credentials.keyID),
        (CURLOPT_PASSWORD, credentials.secret),
      ]
      if let authorities { texts.append((CURLOPT_CAINFO, authorities)) }
      var code = CURLE_OK
      func set(_ body: () -> CURLcode) { if code == CURLE_OK { code = body() } }
      for (option, number) in numbers { set { strata_curl_set_number(handle, option, number) } }
      for (option, text) in texts { set { strata_curl_set_text(handle, option, text) } }
      switch request.method {
      case .get: break
      case .head: set { strata_curl_set_number(handle, CURLOPT_NOBODY, 1) }
      case .put, .post:
        // An empty array may have no address, and without one libcurl would ask for the bytes.
        set { strata_curl_set_body(handle, body.baseAddress ?? UnsafeRawPointer(handle), Int64(body.count)) }
        set { strata_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
      case .delete: set { strata_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
      }
      set { strata_curl_set_headers(handle, headers.list) }
      set {
        strata_curl_set_receivers(
          handle,
          { bytes, size, count, context in CurlSink.at(context).header(bytes, size * count) },
          { bytes, size, count, context in CurlSink.at(context).body(bytes, size * count) },
          Unmanaged.passUnretained(sink).toOpaque())
      }
      return code
    }

    // MARK: Errors

    private static func failure(_ code: CURLcode, _ endpoint: BucketEndpoint) -> HTTPFailure {
      let text = "\(endpoint.text): \(String(cString: curl_easy_strerror(code)))"
      switch code {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT,
        CURLE_SSL_CONNECT_ERROR:
        return HTTPFailure(what: text, next: nil, mayHaveHappened: false)
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
        return HTTPFailure(
          what: text,
          next: "check the endpoint's certificate; AWS_CA_BUNDLE names a file of authorities of one's own",
          mayHaveHappened: false)
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_UNKNOWN_OPTION,
        CURLE_BAD_FUNCTION_ARGUMENT:
        return HTTPFailure(
          what: text, next: "check the endpoint in the URL, and that libcurl is 7.88.1 or later",
          mayHaveHappened: false)
      default: return HTTPFailure(what: text, next: nil, mayHaveHappened: true)
      }
    }
  }

  /// The headers of a request as libcurl takes them.
  private struct Headers {
    private(set) var list: UnsafeMutablePointer<curl_slist>?

    init(_ headers: [HTTPRequest.Header]) throws(HTTPFailure) {
      for line in headers.map({ "\($0.name): \($0.value)" }) {
        // A line break in a value would begin another header.
        guard line.utf8.allSatisfy({ $0.isVisible || $0 == 0x20 }), let longer = curl_slist_append(list, line)
        else {
          free()
          throw HTTPFailure(
            what: "a header has characters that none may have",
            next: "check what the server calls its objects",
            mayHaveHappened: false)
        }
        list = longer
      }
    }

    func free() { curl_slist_free_all(list) }
  }

  /// Takes an answer as it comes, up to its limits. Used by the thread that sends.
  private final class CurlSink {
    private let handle: UnsafeMutableRawPointer
    private let lengthMax: Int
    private var headersLength = 0
    private(set) var headers: [String: String] = [:]
    private(set) var body: [UInt8] = []
    private(set) var isCut = false
    private(set) var hasTooLongHeaders = false

    /// What an error's answer may have, whatever was asked for.
    private static let errorLengthMax = 64 << 10
    /// The headers that are looked at.
    private static let known: Set = ["etag", "content-range", "x-amz-bucket-region"]

    init(_ handle: UnsafeMutableRawPointer, lengthMax: Int) {
      self.handle = handle
      self.lengthMax = lengthMax
    }

    static func at(_ context: UnsafeMutableRawPointer?) -> CurlSink {
      Unmanaged<CurlSink>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Takes a line of the headers. Returns how much was taken: less than all of it ends the transfer.
    func header(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      headersLength += count
      guard headersLength <= HTTPResponse.headersLengthMax else {
        hasTooLongHeaders = true
        return 0
      }
      let line = UnsafeRawBufferPointer(start: bytes, count: count)
      // Those of an answer before the last one, such as `100 Continue`, are not of it.
      if line.starts(with: "HTTP/".utf8) { headers = [:] }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return count }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      let end = value.lastIndex { $0 > 0x20 } ?? value.startIndex
      guard Self.known.contains(name), !value.isEmpty,
        value[...end].allSatisfy({ $0.isVisible || $0 == 0x20 })
      else { return count }
      headers[name] = String(decoding: value[...end], as: UTF8.self)
      return count
    }

    /// Takes a part of the body. Returns how much was taken: less than all of it ends the transfer.
    func body(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
      let most = 200..<300 ~= strata_curl_status(handle) ? lengthMax : Self.errorLengthMax
      let taken = min(count, most - body.count)
      body += UnsafeRawBufferPointer(start: bytes, count: taken)
      if taken < count { isCut = true }
      return taken
    }
  }

  extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
  }
#endif
