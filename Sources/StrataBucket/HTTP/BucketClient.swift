// Sends requests to a bucket, signed, and again where that is of use.

internal import StrataBase

/// An answer that says what became of a request, or what is there.
struct BucketAnswer {
  let response: HTTPResponse

  var status: Int { response.status }
  var isSuccess: Bool { 200..<300 ~= status }
  /// There is no such key, or no such upload.
  var isMissing: Bool { status == 404 }
  /// A condition does not hold.
  var isConditionFailed: Bool { status == 412 }
}

/// Why a request was not carried out, or is not known to have been.
struct BucketFailure: Error {
  let error: CarrierError
  /// Whether it may have been carried out, or may be later.
  let mayHaveHappened: Bool
  /// What the last answer said; nil if there was none.
  let status: Int?
  /// The code of an error that came with it.
  let code: String

  /// Whether the access keys are right, and may not do this.
  var isDenied: Bool { status == 403 && code == "AccessDenied" }

  /// Why a put stopped. What may be there is never called refused.
  var stop: CarrierStop {
    error.reason == .unreachable || mayHaveHappened ? .unknown(error) : .refused(error)
  }
}

/// Sends requests to one bucket. Several threads may.
///
/// Its one mutable state is the access keys, which a lock guards. They are read at the first request, and again when a
/// server refuses them: another program may have renewed them meanwhile.
final class BucketClient: Sendable {
  let place: BucketPlace
  private let transport: any HTTPTransport
  private let source: CredentialSource
  private let retry: BucketRetry
  private let clock: BucketClock
  private let credentials = Lock<BucketCredentials?>(nil)

  init(
    _ place: BucketPlace, _ transport: any HTTPTransport, _ source: CredentialSource,
    retry: BucketRetry = BucketRetry(), clock: BucketClock = .system
  ) {
    self.place = place
    self.transport = transport
    self.source = source
    self.retry = retry
    self.clock = clock
  }

  /// Sends a request until there is an answer that says what became of it: a success, nothing there, or a condition that
  /// does not hold. The request must be one that does no harm if it is carried out twice.
  ///
  /// - Parameter what: what it does, for messages: `create s3://desk/log/1`.
  func send(_ request: HTTPRequest, to what: String) throws(BucketFailure) -> BucketAnswer {
    let deadline = clock.now().advanced(by: retry.limit)
    var count = 0
    var mayHaveHappened = false
    var hasAskedForKeys = false
    while true {
      count += 1
      let judgement: BucketJudgement
      var (status, code): (Int?, String) = (nil, "")
      let keys = try self.keys(mayHaveHappened)
      do throws(HTTPFailure) {
        let response = try transport.send(signed(request, keys), signedBy: keys, for: place.region)
        let found = ErrorAnswer(response, hiding: keys)
        (status, code) = (response.status, found.code)
        judgement = BucketJudgement(response, found, to: request, what, place)
        if case .answer = judgement {
          return BucketAnswer(response: response)
        }
      } catch {
        judgement = .init(error, what, place)
      }
      switch judgement {
      case .answer: break
      case .again(let error, let isDoubtful):
        mayHaveHappened = mayHaveHappened || isDoubtful
        let pause = retry.pause(after: count) * clock.random()
        guard clock.now().advanced(by: pause) < deadline else {
          throw BucketFailure(error: error, mayHaveHappened: mayHaveHappened, status: status, code: code)
        }
        clock.pause(pause)
      case .stop(let error, let isDoubtful):
        throw BucketFailure(
          error: error, mayHaveHappened: mayHaveHappened || isDoubtful, status: status, code: code)
      case .badKeys(let error):
        guard !hasAskedForKeys, haveChanged(keys) else {
          throw BucketFailure(error: error, mayHaveHappened: mayHaveHappened, status: status, code: code)
        }
        hasAskedForKeys = true
      }
    }
  }

  /// Sends a request that reads or replaces.
  func read(_ request: HTTPRequest, to what: String) throws(CarrierError) -> BucketAnswer {
    do throws(BucketFailure) { return try send(request, to: what) } catch { throw error.error }
  }

  private func signed(_ request: HTTPRequest, _ keys: BucketCredentials) -> HTTPRequest {
    var request = request
    if let token = keys.token { request.headers.append(.init(name: "x-amz-security-token", value: token)) }
    return request
  }

  // MARK: Access keys

  private func keys(_ mayHaveHappened: Bool) throws(BucketFailure) -> BucketCredentials {
    if let known = credentials.withLock({ $0 }) { return known }
    do throws(CarrierError) {
      let found = try source.credentials()
      credentials.withLock { $0 = found }
      return found
    } catch { throw BucketFailure(error: error, mayHaveHappened: mayHaveHappened, status: nil, code: "") }
  }

  /// Reads the keys again. Returns whether they are others than those that were refused.
  private func haveChanged(_ refused: BucketCredentials) -> Bool {
    let found = try? source.credentials()
    credentials.withLock { $0 = found }
    return found.map { $0 != refused } ?? false
  }
}
