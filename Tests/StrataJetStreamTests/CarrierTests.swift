// The carrier over a broker in memory.

internal import StrataBase
internal import StrataDocuments
@testable internal import StrataJetStream
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct CarrierTests {
  private func object(_ number: UInt64, _ text: String) -> CarrierObject {
    CarrierObject(number: number, bytes: Array(text.utf8))
  }

  private func objects(_ numbers: ClosedRange<UInt64>, _ text: String = "object") -> [CarrierObject] {
    numbers.map { object($0, "\(text) \($0)") }
  }

  /// A broker whose messages have at most 400 bytes, so that objects have parts.
  private func smallBroker() throws -> (MemoryBroker, JetStreamCarrier) {
    let broker = MemoryBroker()
    broker.state.withLock { $0.sizeMax = 400 + (1 << 10) }
    return (broker, try broker.carrier(messageSizeLeast: 0))
  }

  @Test func `objects are put as one batch, read one by one and ahead, and are the extent`() throws {
    let broker = MemoryBroker()
    let carrier = try broker.carrier()
    #expect(try carrier.object(1) == nil && carrier.extent() == CarrierExtent(last: 0))
    try carrier.prove()
    #expect(carrier.put(objects(1...200)) == .stored)
    #expect(broker.state.withLock { $0.largestBatch } == 200)
    let reader = try broker.carrier()
    let before = broker.state.withLock { $0.requests }
    for number in 1...200 as ClosedRange<UInt64> {
      #expect(try reader.object(number) == object(number, "object \(number)"))
    }
    // The first by itself, and all that follow it at once.
    #expect(broker.state.withLock { $0.requests } - before <= 3)
    #expect(try reader.object(201) == nil && reader.hasObject(200) && !reader.hasObject(201))
    #expect(try reader.object(0) == nil && reader.object(.max) == nil)
    #expect(try reader.extent() == CarrierExtent(last: 200))
    #expect(carrier.put(objects(201...1000)) == .stored)
    #expect(broker.state.withLock { $0.largestBatch } == 256)
  }

  @Test func `a number is taken once, and a window of which the first is taken is refused as a whole`() throws
  {
    let broker = MemoryBroker()
    let (one, two) = (try broker.carrier(), try broker.carrier())
    try one.prove()
    #expect(one.put(objects(1...2, "one")) == .stored)
    #expect(two.put(objects(2...5, "two")) == .stopped(count: 0, .taken))
    #expect(two.put(objects(4...5, "two")) == .stopped(count: 0, .taken))
    #expect(try one.extent().last == 2 && two.object(2) == object(2, "one 2"))
    #expect(two.put(objects(3...4, "two")) == .stored)
    #expect(one.put(objects(3...5, "one")) == .stopped(count: 0, .taken))
    #expect(try one.extent().last == 4)
  }

  @Test func `what is larger than a message has parts, and is there when its list is`() throws {
    let (broker, carrier) = try smallBroker()
    try carrier.prove()
    let large = CarrierObject(number: 2, bytes: (0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    #expect(carrier.put([object(1, "small"), large, object(3, "small too")]) == .stored)
    let reader = try broker.carrier(messageSizeLeast: 0)
    #expect(try reader.object(2) == large && reader.object(3)?.bytes == Array("small too".utf8))
    #expect(broker.stream("STRATA_SIDE_desk")?.messages.count == 13)
    // The same again, as after an answer that was lost: no part is there twice.
    #expect(carrier.put([large]) == .stopped(count: 0, .taken))
    #expect(broker.stream("STRATA_SIDE_desk")?.messages.count == 13)
    // A put that lost leaves parts, which the next proof takes away.
    let lost = CarrierObject(number: 3, bytes: [UInt8](repeating: 1, count: 1_000))
    #expect(carrier.put([lost]) == .stopped(count: 0, .taken))
    let early = CarrierObject(number: 9, bytes: [UInt8](repeating: 2, count: 1_000))
    #expect(carrier.put([early]) == .stopped(count: 0, .taken))
    #expect(broker.stream("STRATA_SIDE_desk")?.messages.count == 19)
    try carrier.prove()
    // Under a number that is not taken they may be on their way.
    #expect(broker.stream("STRATA_SIDE_desk")?.messages.count == 16)
    #expect(try reader.object(2) == large)
    // A part that is another, or missing, is not joined: the reader gets what is no object.
    broker.change("STRATA_SIDE_desk") { side in
      let key = side.messages.first {
        $0.value.subject.hasSuffix(".4") && $0.value.subject.contains("part.2.")
      }!.key
      side.messages[key]!.bytes[0] ^= 1
    }
    #expect(try reader.object(2)?.bytes.count == ObjectParts.length)
    broker.change("STRATA_SIDE_desk") { $0.messages = [:] }
    #expect(try reader.object(2)?.bytes.count == ObjectParts.length)
  }

  @Test func `a replaced object is read in its new form, and its earlier forms and parts are gone`() throws {
    let (broker, carrier) = try smallBroker()
    try carrier.prove()
    let large = CarrierObject(number: 2, bytes: [UInt8](repeating: 9, count: 2_000))
    #expect(carrier.put([object(1, "secret 1"), large, object(3, "secret 3")]) == .stored)
    let reader = try broker.carrier(messageSizeLeast: 0)
    for number in 1...3 as ClosedRange<UInt64> {
      let read = try #require(try carrier.object(number))
      let new = CarrierObject(
        number: number, bytes: [UInt8](repeating: UInt8(number), count: 900), version: read.version)
      try carrier.replaceObject(new)
      #expect(try reader.object(number)?.bytes == new.bytes && reader.object(number)?.version == "1")
      // The form that was read before is no longer the one that is there.
      #expect(throws: CarrierError.self) { try carrier.replaceObject(new) }
    }
    let again = try #require(try carrier.object(2))
    try carrier.replaceObject(CarrierObject(number: 2, bytes: [4, 5], version: again.version))
    #expect(try reader.object(2)?.bytes == [4, 5] && reader.object(2)?.version == "2")
    #expect(broker.stream("STRATA_LOG_desk")?.messages.isEmpty == true)
    // Three parts of each of the other two, three forms, and no earlier one.
    let subjects = try #require(broker.stream("STRATA_SIDE_desk")).messages.values.map(\.subject)
    #expect(!subjects.contains { $0.contains(".part.") })
    #expect(subjects.count { $0.contains(".new.") } == 6 && subjects.count { $0.contains(".erased.") } == 3)
    #expect(!subjects.contains { $0.contains(".new.2.") })
    #expect(try reader.extent() == CarrierExtent(last: 3))
    #expect(carrier.put([object(4, "next")]) == .stored)
    #expect(try reader.extent() == CarrierExtent(last: 4) && reader.object(4) == object(4, "next"))
  }

  @Test
  func `a replacement that is interrupted anywhere is made again, and the object is there all the time`()
    throws
  {
    let large = CarrierObject(number: 1, bytes: [UInt8](repeating: 9, count: 1_000))
    let new = [UInt8](repeating: 3, count: 900)
    var interrupted = 0
    for count in 0..<40 {
      let (broker, carrier) = try smallBroker()
      try carrier.prove()
      #expect(carrier.put([large, object(2, "next")]) == .stored)
      let read = try #require(try carrier.object(1))
      broker.state.withLock { $0.requestsMax = $0.requests + count }
      let error = refusal { () throws(CarrierError) in
        try carrier.replaceObject(CarrierObject(number: 1, bytes: new, version: read.version))
      }
      broker.state.withLock { $0.requestsMax = .max }
      let reader = try broker.carrier(messageSizeLeast: 0)
      let found = try #require(try reader.object(1))
      #expect(found.bytes == large.bytes || found.bytes == new, "after \(count) requests")
      #expect(error != nil || found.bytes == new)
      if error != nil { interrupted += 1 }
      // What the writer does after a pause: reads it again, and replaces that.
      let again = try #require(try reader.object(1))
      try reader.replaceObject(CarrierObject(number: 1, bytes: [7], version: again.version))
      #expect(try carrier.object(1)?.bytes == [7] && carrier.extent() == CarrierExtent(last: 2))
      let side = try #require(broker.stream("STRATA_SIDE_desk")).messages.values
      #expect(side.map(\.bytes) == [[7]], "after \(count) requests")
    }
    #expect(interrupted > 15 && interrupted < 40)
  }

  @Test func `an object that is lost is missing, and one that only the leader has lost is read`() throws {
    let broker = MemoryBroker()
    let carrier = try broker.carrier()
    try carrier.prove()
    #expect(carrier.put(objects(1...6)) == .stored)
    broker.change("STRATA_LOG_desk") { $0.lostByLeader = [4] }
    #expect(try carrier.object(4) == object(4, "object 4"))
    broker.change("STRATA_LOG_desk") { $0.messages[4] = nil }
    #expect(try carrier.object(3) != nil && carrier.object(4) == nil && carrier.object(5) != nil)
    #expect(try carrier.extent() == CarrierExtent(last: 6, missing: [4...4]))
    broker.change("STRATA_LOG_desk") { $0.messages[1] = nil }
    #expect(try carrier.extent() == CarrierExtent(last: 6, missing: [1...1, 4...4]))
    broker.change("STRATA_LOG_desk") { $0.messages[2] = nil }
    #expect(try carrier.extent() == CarrierExtent(last: 6, missing: [1...2, 4...4]))
  }

  @Test func `numbers that no server has stop nothing`() throws {
    let (broker, carrier) = try smallBroker()
    try carrier.prove()
    #expect(carrier.put(objects(1...2)) == .stored)
    broker.change("STRATA_SIDE_desk") { side in
      side.messages[.max] = .init(subject: "STRATA.desk.side.part.1.x.0", bytes: [1])
      side.messages[900] = .init(subject: "STRATA.desk.side.erased.2.18446744073709551615", bytes: [1])
      side.messages[901] = .init(subject: "STRATA.desk.side.erased.18446744073709551615.1", bytes: [1])
      side.messages[902] = .init(subject: "STRATA.desk.side.part.0.x.0", bytes: [1])
      side.messages[903] = .init(subject: "STRATA.desk.side.part.99999999999999999999.x.0", bytes: [1])
    }
    #expect(refusal { () throws(CarrierError) in try carrier.prove() } != nil)
    let read = try #require(try carrier.object(2))
    let error = refusal { () throws(CarrierError) in
      try carrier.replaceObject(CarrierObject(number: 2, bytes: [5], version: read.version))
    }
    #expect(error?.reason == .unreachable)
    #expect(try carrier.extent().last == 2 && carrier.object(2) == read)
    broker.change("STRATA_LOG_desk") { $0.messages[.max] = .init(subject: "STRATA.desk.log", bytes: [1]) }
    #expect(try broker.carrier().object(1) == object(1, "object 1"))
  }

  @Test func `notes of members replace each other, and are removed`() throws {
    let carrier = try MemoryBroker().carrier()
    #expect(try carrier.notes().isEmpty)
    try carrier.prove()
    for index in 0..<10 {
      try carrier.setNote(CarrierNote(member: "m\(index)", bytes: [0]))
      try carrier.setNote(CarrierNote(member: "m\(index)", bytes: [UInt8(index)]))
    }
    try carrier.removeNote(of: "m3")
    try carrier.removeNote(of: "none")
    let notes = try carrier.notes().sorted { $0.member < $1.member }
    #expect(notes.map(\.member) == [0, 1, 2, 4, 5, 6, 7, 8, 9].map { "m\($0)" })
    #expect(notes.allSatisfy { "m\($0.bytes[0])" == $0.member })
  }

  // MARK: Refusals

  private func refusal(_ body: () throws(CarrierError) -> Void) -> CarrierError? {
    do throws(CarrierError) { try body() } catch { return error }
    return nil
  }

  @Test func `a proof leaves nothing, and refuses servers that ignore fences, and old ones by name`() throws {
    let broker = MemoryBroker()
    let carrier = try broker.carrier()
    try carrier.prove()
    try carrier.prove()
    #expect(broker.stream("STRATA_SIDE_desk")?.messages.isEmpty == true)
    #expect(broker.stream("STRATA_LOG_desk")?.last == 0)
    var faults = MemoryBroker.Faults()
    faults.ignoresFences = true
    broker.setFaults(faults, seed: 1)
    #expect(refusal { () throws(CarrierError) in try carrier.prove() }?.reason == .unfit)
    let old = MemoryBroker()
    old.state.withLock { $0.version = "2.9.10" }
    let error = refusal { () throws(CarrierError) in try old.carrier2().prove() }
    #expect(error?.reason == .unfit && error?.what.contains("2.9.10") == true)
    #expect(old.stream("STRATA_LOG_desk") == nil)
  }

  @Test func `a stream with one replica is refused, unless the URL says that one is enough`() throws {
    let broker = MemoryBroker()
    try broker.carrier("nats://a/desk?replicas=1").prove()
    let error = refusal { () throws(CarrierError) in try broker.carrier2().prove() }
    #expect(error?.reason == .unfit && error?.what.contains("num_replicas") == true)
    try broker.carrier("nats://a/desk?replicas=1").prove()
  }

  @Test func `a broker that went back, or lost the stream, is named, and nothing is put there`() throws {
    let broker = MemoryBroker()
    let carrier = try broker.carrier()
    try carrier.prove()
    #expect(carrier.put(objects(1...9)) == .stored)
    broker.change("STRATA_LOG_desk") { stream in
      stream.last = 5
      stream.messages = stream.messages.filter { $0.key <= 5 }
    }
    let error = refusal { () throws(CarrierError) in _ = try carrier.extent() }
    #expect(
      error?.reason == .unfit && error?.what.contains("9") == true && error?.what.contains("desk") == true)
    #expect(carrier.put(objects(10...11)) == .stopped(count: 0, .taken))
    broker.state.withLock { $0.streams = [:] }
    #expect(refusal { () throws(CarrierError) in try carrier.prove() }?.reason == .unfit)
    #expect(broker.stream("STRATA_LOG_desk") == nil)
    guard case .stopped(0, .refused(let gone)) = carrier.put(objects(10...11)) else {
      Issue.record("not refused")
      return
    }
    #expect(gone.reason == .unfit && gone.what.contains("STRATA_LOG_desk"))
  }

  @Test func `a full stream is refused, and a silent one is unknown after thirty seconds`() throws {
    let broker = MemoryBroker()
    let carrier = try broker.carrier()
    try carrier.prove()
    broker.state.withLock {
      $0.answers = [
        Array(#"{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}"#.utf8)
      ]
    }
    guard case .stopped(0, .refused(let full)) = carrier.put(objects(1...1)) else {
      Issue.record("not refused")
      return
    }
    #expect(full.reason == .refused)
    broker.state.withLock { $0.isSilent = true }
    let begin = broker.state.withLock { $0.time }
    guard case .stopped(0, .unknown(let silent)) = carrier.put(objects(1...2)) else {
      Issue.record("not unknown")
      return
    }
    #expect(silent.reason == .unreachable)
    let elapsed = broker.state.withLock { $0.time } - begin
    #expect(elapsed >= .seconds(30) && elapsed < .seconds(60))
    #expect(refusal { () throws(CarrierError) in _ = try carrier.object(1) }?.reason == .unreachable)
    broker.state.withLock { $0.isSilent = false }
    #expect(carrier.put(objects(1...2)) == .stored)
  }

  @Test func `a server whose messages are too small is refused`() throws {
    let broker = MemoryBroker()
    broker.state.withLock { $0.sizeMax = 1000 }
    let carrier = try broker.carrier()
    #expect(refusal { () throws(CarrierError) in try carrier.prove() }?.what.contains("1000") == true)
  }
}

extension MemoryBroker {
  /// A carrier, where only errors of carriers may be thrown.
  func carrier2() throws(CarrierError) -> JetStreamCarrier {
    JetStreamCarrier(
      try JetStreamAddress.parse("nats://127.0.0.1/desk").0, over: MemoryLink(self),
      time: CarrierTime(now: { .zero }, sleep: { _ in }))
  }
}
