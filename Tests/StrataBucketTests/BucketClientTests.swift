// What answers mean, and when a request is sent again.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import Testing

@Suite struct BucketClientTests {
  private enum Kind: String { case answer, again, doubtful, unreachable, refused, unfit, keys }

  private func kind(_ status: Int, _ code: String, _ method: HTTPRequest.Method = .put, region: String? = nil)
    throws -> Kind
  {
    let place = try BucketPlace("s3://copies/d?region=eu-west-1")
    let body = code.isEmpty ? "" : "<Error><Code>\(code)</Code></Error>"
    let response = FakeBucket.answer(body, region.map { ["x-amz-bucket-region": $0] } ?? [:], status: status)
    switch BucketJudgement(
      response, ErrorAnswer(response), to: place.request(method, "d/log/1"), "try it", place)
    {
    case .answer: return .answer
    case .again(_, let isDoubtful): return isDoubtful ? .doubtful : .again
    case .badKeys: return .keys
    case .stop(let error, _): return Kind(rawValue: error.reason.rawValue)!
    }
  }

  @Test func `each answer means one thing`() throws {
    let expected: [(Int, String, Kind)] = [
      (200, "", .answer), (204, "", .answer), (206, "", .answer), (412, "PreconditionFailed", .answer),
      (416, "InvalidRange", .answer), (404, "NoSuchKey", .answer), (404, "NoSuchUpload", .answer),
      (404, "NoSuchBucket", .refused), (404, "", .unreachable), (404, "Other", .unreachable),
      (200, "NotImplemented", .answer), (501, "NotImplemented", .unfit), (501, "", .unfit),
      (405, "MethodNotAllowed", .unfit),
      (400, "NotImplemented", .unfit), (409, "ConditionalRequestConflict", .again), (409, "", .again),
      (429, "", .again), (503, "SlowDown", .again), (408, "", .again), (400, "RequestTimeout", .again),
      (500, "InternalError", .doubtful), (502, "", .doubtful), (503, "", .doubtful), (504, "", .doubtful),
      (507, "", .refused), (301, "PermanentRedirect", .refused), (307, "", .refused), (304, "", .refused),
      (403, "AccessDenied", .refused), (403, "", .keys), (401, "", .keys), (403, "InvalidAccessKeyId", .keys),
      (403, "SignatureDoesNotMatch", .keys), (400, "ExpiredToken", .keys), (400, "InvalidToken", .keys),
      (403, "RequestTimeTooSkewed", .refused), (403, "InvalidObjectState", .refused),
      (400, "InvalidArgument", .refused),
      (413, "EntityTooLarge", .refused),
      (0, "", .unreachable), (100, "", .unreachable), (700, "", .unreachable),
    ]
    for (status, code, kind) in expected { #expect(try self.kind(status, code) == kind, "\(status) \(code)") }
    #expect(try kind(404, "", .head) == .answer)
    #expect(try kind(403, "", .head) == .keys)
    #expect(try kind(400, "", .head) == .keys)
    #expect(try kind(400, "", .get) == .refused)
    #expect(try kind(404, "", .get) == .unreachable)
  }

  @Test func `a bucket of another region is refused with its name`() throws {
    for answer in [
      FakeBucket.answer("", ["x-amz-bucket-region": "eu-west-1"], status: 301),
      FakeBucket.error(400, "AuthorizationHeaderMalformed", more: "<Region>eu-west-1</Region>"),
      FakeBucket.error(307, "TemporaryRedirect", more: "<Region>eu-west-1</Region>"),
    ] {
      let fake = FakeBucket()
      fake.change { $0.override = { _, _ in answer } }
      let carrier = try BucketCarrier(fake: fake, url: "s3://copies/d?region=us-east-2")
      let found = error { () throws(CarrierError) in try carrier.object(1) }
      #expect(
        found?.reason == .refused && found?.next.contains("region=eu-west-1") == true,
        "\(found.debugDescription)")
    }
    #expect(try kind(404, "NoSuchKey", region: "eu-west-2") == .answer)
    #expect(try kind(412, "PreconditionFailed", region: "eu-west-2") == .answer)
  }

  @Test func `what has no answer is tried again, with pauses that grow, and not for ever`() throws {
    let fake = FakeBucket()
    fake.change { $0.faults.lostRequests = 1 }
    let clock = FakeClock()
    let carrier = try BucketCarrier(fake: fake, clock: clock)
    let found = error { () throws(CarrierError) in try carrier.object(1) }
    #expect(found?.reason == .unreachable)
    let pauses = clock.pauses.withLock { $0 }
    #expect(fake.requests.count == pauses.count + 1 && pauses.count > 8)
    #expect(Array(pauses[..<7]) == [50, 100, 200, 400, 800, 1600, 2500].map { .milliseconds($0) })
    #expect(pauses.reduce(.zero, +) <= BucketRetry().limit)
    #expect(pauses.allSatisfy { $0 <= BucketRetry().pauseMax })
  }

  @Test func `what another try would not change is sent once`() throws {
    for answer in [
      FakeBucket.error(403, "AccessDenied"), FakeBucket.error(404, "NoSuchBucket"),
      FakeBucket.error(501, "NotImplemented"),
    ] {
      let fake = FakeBucket()
      fake.change { $0.override = { _, _ in answer } }
      let carrier = try BucketCarrier(fake: fake)
      let put = carrier.put([CarrierObject(1, "a"), CarrierObject(2, "b")])
      guard case .stopped(count: 0, .refused(let why)) = put else {
        Issue.record("\(put)")
        continue
      }
      #expect(fake.requests.count == 1 && !why.next.isEmpty)
    }
  }

  @Test func `what may be there is never called refused`() throws {
    // The first try is carried out and has no answer; the second one is refused.
    let fake = FakeBucket()
    let count = Lock(0)
    fake.change {
      $0.override = { request, _ in
        guard request.method == .put else { return nil }
        return count.withLock { count in
          count += 1
          return count == 1 ? FakeBucket.error(500, "InternalError") : FakeBucket.error(403, "AccessDenied")
        }
      }
    }
    let put = try BucketCarrier(fake: fake).put([CarrierObject(1, "a")])
    guard case .stopped(count: 0, .unknown) = put else {
      Issue.record("\(put)")
      return
    }
  }

  @Test func `without keys nothing is sent`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(
      fake: fake, source: CredentialSource(environment: [:], read: { _ in nil }))
    guard case .stopped(count: 0, .refused(let why)) = carrier.put([CarrierObject(1, "a")]) else {
      Issue.record("a put without keys was not refused")
      return
    }
    #expect(why.next.contains("AWS_ACCESS_KEY_ID") && fake.requests.isEmpty)
  }

  @Test func `a put that looks for the number before it, and may not, is refused`() throws {
    let fake = FakeBucket()
    fake.change {
      $0.override = { request, _ in
        request.method == .head ? FakeBucket.answer("", status: 403) : nil
      }
    }
    guard case .stopped(count: 0, .refused) = try BucketCarrier(fake: fake).put([CarrierObject(2, "b")])
    else {
      Issue.record("a put that may not look was not refused")
      return
    }
    #expect(fake.objects.isEmpty)
  }
}
