// The calls of a carrier on a bucket that answers truly, and on some that do not.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import Testing

@Suite struct BucketCarrierTests {
  @Test func `objects are put in order, each once, and none after one that is missing`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    #expect(try carrier.extent() == CarrierExtent(of: []))
    #expect(carrier.put((1...3).map { CarrierObject($0, "\($0)") }) == .stored)
    #expect(carrier.put([CarrierObject(3, "x"), CarrierObject(4, "y")]) == .stopped(count: 0, .taken))
    #expect(try BucketCarrier(fake: fake).put([CarrierObject(4, "4")]) == .stored)
    guard case .stopped(count: 0, .refused) = carrier.put([CarrierObject(6, "6")]) else {
      Issue.record("a gap was not refused")
      return
    }
    #expect(
      fake.objects.keys.sorted() == (1...4).map { "a b/c+ü/log/0000000000000000000\($0)" })
    #expect(try carrier.object(3)?.bytes == Array("3".utf8) && carrier.object(5) == nil)
    #expect(try carrier.hasObject(4) && !carrier.hasObject(5))
    #expect(try carrier.extent() == CarrierExtent(of: 1...4))
    #expect(fake.violations.isEmpty, "\(fake.violations)")
  }

  @Test func `an object is replaced by its version, and not by an earlier one`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    _ = carrier.put([CarrierObject(1, "a")])
    let first = try #require(try carrier.object(1))
    try carrier.replaceObject(CarrierObject(number: 1, bytes: [1], version: first.version))
    for number in [UInt64(1), 2] {
      let stale = error { () throws(CarrierError) in
        try carrier.replaceObject(CarrierObject(number: number, bytes: [2], version: first.version))
      }
      #expect(stale?.reason == .unreachable)
    }
    #expect(try carrier.object(1)?.bytes == [1])
    // An answer that is lost is not a replacement by another.
    let count = Lock(0)
    let version = try carrier.object(1)?.version
    fake.change { state in
      state.override = { request, _ in
        guard request.method == .put,
          count.withLock({
            $0 += 1; return $0
          }) == 1
        else { return nil }
        return FakeBucket.error(500, "InternalError")
      }
      state.objects["a b/c+ü/log/00000000000000000001"] = .init(bytes: [3], tag: "\"other\"")
    }
    try carrier.replaceObject(CarrierObject(number: 1, bytes: [3], version: version))
  }

  @Test func `an extent has the last number and the first that is missing, on pages of any length`() throws {
    let fake = FakeBucket()
    for pageLength in [1, 2, 3, 7, 1000] {
      let carrier = try BucketCarrier(fake: fake, pageLength: pageLength)
      for missing in [nil, 1, 4, 9] as [UInt64?] {
        fake.change { state in
          state.objects = [:]
          for name in [
            "a b/c+ü/log/x", "a b/c+ü/log/0000000000000000001", "a b/c+ü/log/000000000000000000010",
            "a b/c+ü/log/0/1",
            "a b/c+ü/log/00000000000000000000", "a b/c+ü/logs/00000000000000000077",
            "a b/c+ü/log/99999999999999999999",
          ] { state.objects[name] = .init(bytes: [], tag: "t") }
          for number in UInt64(1)...10 where number != missing {
            let digits = number < 10 ? "0\(number)" : "\(number)"
            state.objects["a b/c+ü/log/000000000000000000\(digits)"] = .init(bytes: [], tag: "t")
          }
        }
        let extent = try carrier.extent()
        #expect(extent.last == 10 && extent.missing == (missing.map { [$0...$0] } ?? []), "\(pageLength)")
      }
    }
    #expect(fake.violations.isEmpty, "\(fake.violations)")
  }

  @Test func `a list without an end, out of order, too long or of something else is refused`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    func list(_ keys: [String], token: String?) -> HTTPResponse {
      FakeBucket.answer(
        "<ListBucketResult>" + keys.map { "<Contents><Key>\($0)</Key></Contents>" }.joined()
          + "<IsTruncated>\(token != nil)</IsTruncated>"
          + (token.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? "")
          + "</ListBucketResult>")
    }
    let prefix = "a b/c+ü/log/"
    for (answer, reason) in [
      (list([], token: "a"), CarrierError.Reason.unreachable),
      (list([prefix + "1"], token: "a"), .unfit),
      (list([prefix + "2", prefix + "1"], token: nil), .unfit),
      (list([prefix + "1", prefix + "1"], token: nil), .unfit),
      (list(["other"], token: nil), .unreachable),
      (FakeBucket.answer("<html/>"), .unreachable),
      (FakeBucket.answer("", status: 204), .unreachable),
      (HTTPResponse(status: 200, headers: [:], body: list([], token: nil).body, isCut: true), .unreachable),
    ] {
      fake.change { $0.override = { _, _ in answer } }
      let before = fake.requests.count
      #expect(error { () throws(CarrierError) in try carrier.extent() }?.reason == reason)
      #expect(fake.requests.count <= before + 101)
      #expect(error { () throws(CarrierError) in try carrier.fileNames(in: "log") }?.reason == reason)
    }
  }

  @Test func `files are created, replaced, read in parts, listed and removed`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake, pageLength: 2)
    #expect(carrier.createFile("manifest/1", [1, 2, 3]) == .stored)
    #expect(carrier.createFile("manifest/1", [4]) == .stopped(count: 0, .taken))
    func read(_ name: String, at offset: Int64, _ count: Int) throws -> [UInt8]? {
      var buffer = [UInt8](repeating: 9, count: count)
      let length = try buffer.lendMutableBytes { bytes throws(CarrierError) in
        try carrier.readFile(name, at: offset, into: bytes)
      }
      return length.map { Array(buffer[..<$0]) }
    }
    #expect(try read("manifest/1", at: 0, 2) == [1, 2] && read("manifest/1", at: 1, 2) == [2, 3])
    #expect(try read("manifest/1", at: 2, 2) == [3] && read("manifest/1", at: 3, 2) == [])
    #expect(try read("manifest/1", at: .max, 2) == [] && read("manifest/1", at: 0, 0) == [])
    #expect(try read("manifest/2", at: 0, 2) == nil && read("manifest/2", at: 0, 0) == nil)
    try carrier.replaceFile("manifest/1", [])
    #expect(try read("manifest/1", at: 0, 2) == [])
    for member in ["a", "b", "c"] {
      try carrier.setNote(CarrierNote(member: member, bytes: Array(member.utf8)))
    }
    #expect(try carrier.notes() == ["a", "b", "c"].map { CarrierNote(member: $0, bytes: Array($0.utf8)) })
    try carrier.removeFiles(["a", "none", "c"], in: "members")
    #expect(try carrier.fileNames(in: "members") == ["b"] && carrier.fileNames(in: "none") == [])
    #expect(fake.violations.isEmpty, "\(fake.violations)")
  }

  @Test func `bytes that are not those of the range are refused`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    func answer(_ status: Int, _ count: Int, _ range: String?, isCut: Bool = false) -> HTTPResponse {
      HTTPResponse(
        status: status, headers: range.map { ["content-range": $0] } ?? [:],
        body: Array(repeating: 1, count: count), isCut: isCut)
    }
    for (answer, offset, reason) in [
      (answer(206, 4, "bytes 0-3/9"), Int64(1), CarrierError.Reason.unreachable),
      (answer(206, 4, nil), 1, .unreachable), (answer(206, 3, "bytes 1-4/9"), 1, .unreachable),
      (answer(206, 2, "bytes 1-2/9"), 1, .unreachable),
      (answer(206, 4, "bytes 1-4/9", isCut: true), 1, .unreachable),
      (answer(200, 4, nil), 1, .unfit), (answer(200, 4, nil, isCut: true), 0, .unfit),
      (answer(204, 0, nil), 0, .unfit),
    ] {
      fake.change { $0.override = { _, _ in answer } }
      var buffer = [UInt8](repeating: 0, count: 4)
      let found = error { () throws(CarrierError) in
        try buffer.lendMutableBytes { bytes throws(CarrierError) in
          try carrier.readFile("f", at: offset, into: bytes)
        }
      }
      #expect(found?.reason == reason && buffer == [0, 0, 0, 0], "\(answer)")
    }
  }

  @Test func `an object is asked for with a limit, and what is longer is handed on as too long`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    _ = try carrier.object(1)
    #expect(fake.requests.last?.answerLengthMax == 64 << 20 | 4096 | 1)
    fake.change { $0.override = { _, _ in HTTPResponse(status: 206, headers: [:], body: [1], isCut: false) } }
    #expect(error { () throws(CarrierError) in try carrier.object(1) }?.reason == .unreachable)
  }

  @Test func `messages name a file with its path, and a name is read as the same place`() throws {
    let carrier = try BucketCarrier(fake: FakeBucket())
    #expect(carrier.name == "s3://copies/a%20b/c%2B%C3%BC?endpoint=http://127.0.0.1:9000&region=us-east-1")
    #expect(carrier.place(of: "log/1") == "s3://copies/a%20b/c%2B%C3%BC/log/1")
    #expect(try BucketPlace(carrier.name) == carrier.place)
  }

  @Test func `a wait for an object is as long as the interval, and costs no request`() throws {
    let (fake, clock) = (FakeBucket(), FakeClock())
    try BucketCarrier(fake: fake, clock: clock).waitForObject(1, within: .seconds(3))
    #expect(clock.pauses.withLock { $0 } == [.seconds(3)] && fake.requests.isEmpty)
  }
}
