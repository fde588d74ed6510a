// A bucket that holds the objects of a store: of Amazon S3, or of what speaks its language.

internal import StrataBase
internal import StrataLog
public import StrataReplica

#if Bucket
  #if canImport(FoundationEssentials)
    internal import FoundationEssentials
  #else
    internal import Foundation
  #endif
#endif

/// Keeps the objects of a store in a bucket of an S3-compatible object store, under `PREFIX/log/NUMBER` with twenty digits.
///
/// ```text
/// let carrier = try BucketCarrier(url: "s3://copies/desk?region=eu-central-1")
/// try await store.ship(to: carrier)
/// ```
///
/// What decides between two writers is `PUT` with `If-None-Match: *`, which the server carries out for one of them. A
/// server that ignores it is refused by `prove`. What is put is as durable as the provider stores it: the server answers
/// after that.
///
/// Every request is signed, over TLS unless the URL names an endpoint with `http://`, and tried again for up to 20
/// seconds where that may help. Calls block, and may come from several threads.
public final class BucketCarrier: CarrierFiles {
  let place: BucketPlace
  let client: BucketClient
  let clock: BucketClock
  /// How much of a large file is in memory, and the most of one request, in bytes.
  let partSize: Int
  /// How many keys a page of a list has at most.
  let pageLength: Int
  /// Every number up to here is known to be taken.
  private let takenThrough = Lock<UInt64>(0)

  /// The URL of the place, with its endpoint and its region. Has no access key: keys are not taken from a URL.
  public var name: String { place.url }

  #if Bucket
    /// - Parameters:
    ///   - url: `s3://BUCKET/PREFIX`, with these parameters, none of which is needed:
    ///     `region`, else `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, `us-east-1`;
    ///     `endpoint`, else `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, Amazon's of the region, with `https://` or, for
    ///     servers inside of one's own walls, `http://`;
    ///     `style`, `host` if the bucket is in the name of the host, `path` if it is in the path: the former for Amazon, the
    ///     latter for other endpoints;
    ///     `allow-versions=yes` as the parameter below.
    ///   - allowsVersions: whether a bucket is taken that keeps what was replaced or removed. Content that is erased stays
    ///     there.
    /// - Throws: `refused` if the URL cannot be read. Nothing is sent, and no access key is looked for yet.
    public convenience init(url: String, allowsVersions: Bool = false) throws(CarrierError) {
      let source = CredentialSource(environment: ProcessInfo.processInfo.environment)
      var place = try BucketPlace(url, environment: source.environment, fileRegion: source.region)
      if allowsVersions { place.allowsVersions = true }
      let transport = CurlTransport(authorities: source.environment["AWS_CA_BUNDLE"])
      self.init(place, BucketClient(place, transport, source))
    }
  #endif

  init(
    _ place: BucketPlace, _ client: BucketClient, clock: BucketClock = .system, partSize: Int = 8 << 20,
    pageLength: Int = 1000
  ) {
    self.place = place
    self.client = client
    self.clock = clock
    self.partSize = partSize
    self.pageLength = pageLength
  }

  public func place(of path: String) -> String { place.url(of: path) }

  // MARK: Objects

  /// The longest object: a header, and a payload that could not be compressed.
  static let objectLengthMax = FormatLimits.rawLengthMax + WireHeader.lengthMax

  public func put(_ objects: [CarrierObject]) -> CarrierAnswer {
    // One after the other. Puts at the same time would be faster, and could leave a number out: then what is there ends
    // before it, and no put could tell the gap from an object that was lost.
    for (count, object) in objects.enumerated() {
      if let stop = put(object) { return .stopped(count: count, stop) }
    }
    return .stored
  }

  private func put(_ object: CarrierObject) -> CarrierStop? {
    if object.number > 1, takenThrough.withLock({ $0 < object.number - 1 }) {
      do throws(CarrierError) {
        guard try hasObject(object.number - 1) else {
          return .refused(
            CarrierError(
              .refused, what: "\(place(of: CarrierLog.path(of: object.number - 1))) is not there",
              next: "put it first"))
        }
      } catch { return error.reason == .unreachable ? .unknown(error) : .refused(error) }
    }
    if let stop = create(CarrierLog.path(of: object.number), object.bytes) { return stop }
    take(object.number)
    return nil
  }

  private func take(_ number: UInt64) { takenThrough.withLock { $0 = max($0, number) } }

  public func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? {
    let path = CarrierLog.path(of: number)
    // What is longer has not the length that its header says, and is refused by its reader.
    let request = place.request(.get, place.key(path), answerLengthMax: Self.objectLengthMax + 1)
    let answer = try client.read(request, to: "read \(place(of: path))")
    if answer.isMissing { return nil }
    try expect(answer, status: 200, path)
    take(number)
    return CarrierObject(
      number: number, bytes: answer.response.body, version: answer.response.headers["etag"])
  }

  public func hasObject(_ number: UInt64) throws(CarrierError) -> Bool {
    let path = CarrierLog.path(of: number)
    let answer = try client.read(
      place.request(.head, place.key(path)), to: "look at \(place(of: path))")
    if answer.isMissing { return false }
    try expect(answer, status: 200, path)
    take(number)
    return true
  }

  /// Refuses an answer that does not belong to the request.
  func expect(_ answer: BucketAnswer, status: Int, _ path: String) throws(CarrierError) {
    guard answer.status == status else {
      throw .strangeAnswer("the status \(answer.status)", place(of: path))
    }
  }

  public func replaceObject(_ object: CarrierObject) throws(CarrierError) {
    let path = CarrierLog.path(of: object.number)
    let condition = object.version.map { [(name: "If-Match", value: $0)] } ?? []
    let answer = try client.read(
      place.request(.put, place.key(path), headers: condition, body: object.bytes),
      to: "replace \(place(of: path))")
    if answer.isSuccess { return }
    // An earlier try, whose answer was lost, may have replaced it: then it has another version.
    if try self.object(object.number)?.bytes == object.bytes { return }
    throw CarrierError(
      .unreachable, what: "\(place(of: path)) was replaced or removed meanwhile", next: "read it again")
  }

  /// Sleeps for the whole interval: a bucket does not say when something new is there. So each look costs a request, of
  /// which an interval of a second makes 86,400 a day.
  public func waitForObject(_ number: UInt64, within interval: Duration) { clock.pause(interval) }

  // MARK: Files

  /// Creates a file. Returns nil if it is stored.
  func create(_ name: String, _ bytes: [UInt8]) -> CarrierStop? {
    do throws(BucketFailure) {
      let answer = try client.send(creation(of: name, bytes), to: "create \(place(of: name))")
      if answer.isSuccess { return nil }
      guard answer.isConditionFailed else {
        return .unknown(.strangeAnswer("the status \(answer.status)", place(of: name)))
      }
      // Perhaps by an earlier try, whose answer was lost: the caller looks whether it is its own.
      return .taken
    } catch { return error.stop }
  }

  func creation(of name: String, _ bytes: [UInt8]) -> HTTPRequest {
    place.request(
      .put, place.key(name), headers: [(name: "If-None-Match", value: "*")], body: bytes)
  }
}

extension CarrierError {
  static func strangeAnswer(_ what: String, _ path: String) -> CarrierError {
    CarrierError(
      .unreachable, what: "the server answered with \(what) for \(path), which does not fit the request",
      next: "check that the endpoint is an object store's")
  }
}
