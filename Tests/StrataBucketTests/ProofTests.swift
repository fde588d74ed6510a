// Which buckets are trusted, and which are refused by name.

@testable internal import StrataBucket
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct ProofTests {
  private func proof(_ fake: FakeBucket, _ parameters: String = "") -> CarrierError? {
    error { () throws(CarrierError) in
      try BucketCarrier(fake: fake, url: "s3://copies/d?endpoint=http://127.0.0.1:9000\(parameters)").prove()
    }
  }

  @Test func `a bucket that keeps conditions is proved, and nothing is left in it`() throws {
    let fake = FakeBucket()
    #expect(proof(fake) == nil)
    #expect(
      fake.objects.isEmpty && fake.violations.isEmpty && fake.requests.count <= 20, "\(fake.violations)")
  }

  @Test(arguments: FakeBucket.Lie.allCases)
  func `a bucket that lies is refused by name`(lie: FakeBucket.Lie) {
    let fake = FakeBucket()
    fake.change { $0.lie = lie }
    let found = proof(fake)
    #expect(
      found?.reason == .unfit && found?.what.contains("s3://copies/d") == true, "\(found.debugDescription)")
    #expect(lie == .keepsRemoved || fake.objects.isEmpty)
  }

  @Test func `a server without conditions that says so is refused`() {
    for status in [501, 400] {
      let fake = FakeBucket()
      fake.change {
        $0.override = { request, _ in
          request.headers.contains { $0.name == "If-None-Match" }
            ? FakeBucket.error(status, "NotImplemented") : nil
        }
      }
      #expect(proof(fake)?.reason == .unfit)
    }
  }

  @Test func `a bucket that keeps what is replaced is refused, unless that is asked for`() {
    for (versioning, lock) in [
      ("<Status>Enabled</Status>", ""), ("<Status>Suspended</Status>", ""), ("", "Enabled"),
      ("<Status>&lt;b&gt;</Status>", ""),
    ] {
      let fake = FakeBucket()
      fake.change { state in
        state.versioning = versioning
        state.lock = lock
      }
      let found = proof(fake)
      #expect(
        found?.reason == .unfit && found?.next.contains("allow-versions=yes") == true,
        "\(found.debugDescription)")
      #expect(fake.objects.isEmpty && !fake.requests.contains { $0.method == .put })
      #expect(proof(fake, "&allow-versions=yes") == nil)
    }
  }

  @Test func `where it cannot be known whether versions are kept, the bucket is refused`() {
    let fake = FakeBucket()
    func answer(_ name: String, _ answer: HTTPResponse) {
      fake.change { $0.override = { request, _ in request.query.contains("\(name)=") ? answer : nil } }
    }
    answer("versioning", FakeBucket.error(403, "AccessDenied"))
    let found = proof(fake)
    #expect(found?.reason == .refused && found?.next.contains("s3:GetBucketVersioning") == true)
    #expect(proof(fake, "&allow-versions=yes") == nil)
    // Without versions there is no lock.
    answer("object-lock", FakeBucket.error(403, "AccessDenied"))
    #expect(proof(fake) == nil)
    // A server that lacks the call has neither.
    for gone in [
      FakeBucket.error(501, "NotImplemented"), FakeBucket.error(405, "MethodNotAllowed"),
      FakeBucket.error(404, "Other"),
      FakeBucket.answer("<ListBucketResult/>"), FakeBucket.answer("hello"),
    ] {
      for name in ["versioning", "object-lock"] {
        answer(name, gone)
        #expect(proof(fake) == nil)
      }
    }
    answer("versioning", FakeBucket.error(404, "NoSuchBucket"))
    #expect(proof(fake)?.what.contains("NoSuchBucket") == true)
  }

  @Test func `a key that may not list is refused with what it needs, and the probe is removed`() {
    let fake = FakeBucket()
    fake.change {
      $0.override = { request, _ in
        request.method == .get && request.query.contains("list-type")
          ? FakeBucket.error(403, "AccessDenied") : nil
      }
    }
    let found = proof(fake)
    #expect(
      found?.reason == .refused && found?.next.contains("s3:ListBucket") == true && fake.objects.isEmpty)
  }

  @Test func `lost answers neither refuse a good bucket nor prove a bad one`() {
    var proofs = 0
    for seed in UInt64(1)...300 {
      for lie in [nil, .ignoresCreate, .ignoresStale, .takesEverything] as [FakeBucket.Lie?] {
        let fake = FakeBucket()
        fake.change { state in
          state.lie = lie
          state.random = .init(seed: seed)
          state.faults = .all(0.05)
          // What arrives late of a lie is another one.
          if lie != nil { state.faults.lateRequests = 0 }
        }
        let found = proof(fake)
        if found == nil { proofs += 1 }
        #expect(lie == nil ? found?.reason != .unfit : found != nil, "seed \(seed) \(found.debugDescription)")
      }
    }
    #expect(proofs > 100)
  }
}
