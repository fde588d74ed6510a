// Large files, in parts.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct UploadTests {
  private static func byte(_ offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: offset &* 7 ^ offset >> 8) }

  private func upload(_ carrier: BucketCarrier, _ size: Int64, largest: Lock<Int>? = nil) throws(CarrierError)
  {
    try carrier.replaceFile("segments/1", size: size) { buffer, offset in
      largest?.withLock { $0 = max($0, buffer.count) }
      for index in buffer.indices { buffer[index] = Self.byte(offset + Int64(index)) }
    }
  }

  @Test(arguments: [0, 1, 9, 10, 11, 20, 21, 99, 100] as [Int64])
  func `a file of any size is there whole, with one part of it in memory`(size: Int64) throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake, partSize: 10)
    let largest = Lock(0)
    try upload(carrier, size, largest: largest)
    #expect(carrier.bytes("segments/1", in: fake) == (0..<size).map(Self.byte))
    #expect(largest.withLock { $0 } <= 10 && fake.state.withLock { $0.uploads.isEmpty })
    #expect(fake.requests.count == (size <= 10 ? 1 : 2 + Int((size + 9) / 10)))
    #expect(fake.violations.isEmpty, "\(fake.violations)")
  }

  @Test func `an upload that fails anywhere is given up, and replaces nothing`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake, partSize: 10)
    try carrier.replaceFile("segments/1", [7])
    let failure = CarrierError(.refused, what: "the disk is broken", next: "mend it")
    let found = error { () throws(CarrierError) in
      try carrier.replaceFile("segments/1", size: 35) { _, offset throws(CarrierError) in
        if offset == 20 { throw failure }
      }
    }
    #expect(found == failure && carrier.bytes("segments/1", in: fake) == [7])
    #expect(fake.state.withLock { $0.uploads.isEmpty })
    for (method, status, body) in [
      (HTTPRequest.Method.put, 403, "<Error><Code>AccessDenied</Code></Error>"), (.put, 200, ""),
      (.post, 200, "<Error><Code>InternalError</Code></Error>"),
      (.post, 200, "<CompleteMultipartUploadResult>"), (.post, 200, ""),
    ] {
      fake.change { state in
        state.override = { request, _ in
          request.method == method && request.query.contains("uploadId=")
            ? FakeBucket.answer(body, status: status) : nil
        }
      }
      let found = error { () throws(CarrierError) in try upload(carrier, 35) }
      #expect(found != nil && carrier.bytes("segments/1", in: fake) == [7], "\(method) \(body)")
      #expect(fake.state.withLock { $0.uploads.isEmpty }, "\(method) \(body)")
    }
    for body in [
      "", "<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>", "<html/>",
    ] {
      fake.change { $0.override = { request, _ in request.method == .post ? FakeBucket.answer(body) : nil } }
      #expect(error { () throws(CarrierError) in try upload(carrier, 35) }?.reason == .unreachable)
    }
  }

  @Test func `parts are as large as ten thousand of them need`() throws {
    let carrier = try BucketCarrier(fake: FakeBucket())
    let (mebibyte, parts) = (Int64(1) << 20, Int64(10_000))
    #expect(try carrier.partSize(for: 9 * mebibyte, "f") == 8 << 20)
    #expect(try carrier.partSize(for: 8 * mebibyte * parts, "f") == 8 << 20)
    #expect(try carrier.partSize(for: 8 * mebibyte * parts + 1, "f") > 8 << 20)
    for size in [8 * mebibyte * parts + 1, 33 * mebibyte * parts + 77, 64 * mebibyte * parts] {
      let part = Int64(try carrier.partSize(for: size, "f"))
      #expect((size + part - 1) / part <= parts && part <= 64 * mebibyte)
    }
    #expect(
      error { () throws(CarrierError) in try carrier.partSize(for: 64 * mebibyte * parts + 1, "f") }?.reason
        == .refused)
    #expect(error { () throws(CarrierError) in try carrier.partSize(for: .max, "f") }?.reason == .refused)
  }

  @Test func `an upload with lost answers is there whole, or an error`() throws {
    var stored = 0
    for seed in UInt64(1)...200 {
      let fake = FakeBucket()
      fake.change { state in
        state.random = .init(seed: seed)
        state.faults = .all(0.05)
      }
      let carrier = try BucketCarrier(fake: fake, partSize: 10)
      let failed = error { () throws(CarrierError) in try upload(carrier, 55) }
      let found = carrier.bytes("segments/1", in: fake)
      if failed == nil { stored += 1 }
      #expect(found == (0..<55).map(Self.byte) || failed != nil && found == nil, "seed \(seed)")
    }
    #expect(stored > 100)
  }
}
