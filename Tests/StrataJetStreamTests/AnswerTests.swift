// The table of answers, the configuration of streams, and the lists of parts.

internal import StrataBase
internal import StrataDocuments
@testable internal import StrataJetStream
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct AnswerTests {
  private func outcome(_ json: String) -> PutOutcome {
    PutOutcome(BrokerMessage(subject: "", bytes: Array(json.utf8)))
  }

  private func decision(_ json: String, after elapsed: Duration = .zero) -> PutTries.Decision {
    var tries = PutTries(into: "S", last: 7)
    return tries.decide(outcome(json), elapsed: elapsed)
  }

  private func error(_ code: Int, _ text: String = "") -> String {
    #"{"error":{"code":503,"err_code":\#(code),"description":"\#(text)"},"stream":"S","seq":0}"#
  }

  @Test func `only the sequence after the fence, in the same stream, is stored`() {
    #expect(decision(#"{"stream":"S","seq":7}"#) == .stored)
    #expect(decision(#"{"stream":"S","seq":7,"batch":"b","count":2}"#) == .stored)
    for json in [
      #"{"stream":"S","seq":8}"#, #"{"stream":"T","seq":7}"#, #"{"stream":"S","seq":6,"duplicate":true}"#,
    ] {
      guard case .stop(.refused(let error)) = decision(json) else {
        Issue.record("\(json)")
        continue
      }
      #expect(error.reason == .unfit)
    }
  }

  @Test func `a condition that is not met is taken, whatever the text says`() {
    #expect(decision(error(10071, "wrong last sequence: 6")) == .stop(.taken))
    #expect(decision(error(10164, "wrong last sequence")) == .stop(.taken))
  }

  @Test(arguments: [10077, 10047, 10023, 10002, 10028, 10122])
  func `a full stream is refused, whatever its class says`(code: Int) {
    guard case .stop(.refused(let error)) = decision(error(code)) else {
      Issue.record("\(code)")
      return
    }
    #expect(error.reason == .refused && error.what.contains("\(code)"))
  }

  @Test
  func `a stream that is not there any more is named, and so is what is wrong with a size and with batches`()
  {
    for code in [10059, 10054, 10174] {
      guard case .stop(.refused(let error)) = decision(error(code)) else {
        Issue.record("\(code)")
        continue
      }
      #expect(error.reason == .unfit && error.what.contains("S"))
    }
  }

  @Test func `anything else is tried again for thirty seconds, and is unknown then`() {
    let unclear: [PutOutcome] = [
      outcome(error(10158)), outcome(error(10008)), outcome(error(10176)), outcome(error(1)), outcome(""),
      outcome("{}"),
      outcome("[1]"), outcome(#"{"stream":"S"}"#), outcome(#"{"stream":"S","seq":-7}"#),
      outcome(#"{"seq":7}"#),
      outcome(#"{"error":3,"seq":7,"stream":"S"}"#), outcome(#"{"stream":"S","seq":7.0}"#), .strange,
      .failure(.silent),
      .failure(.noResponders), .failure(.down("x")),
    ]
    for outcome in unclear {
      var tries = PutTries(into: "S", last: 7)
      var (elapsed, pauses) = (Duration.zero, [Duration]())
      while case .again(let pause) = tries.decide(outcome, elapsed: elapsed) {
        pauses.append(pause)
        elapsed += pause
        guard pauses.count < 100 else { break }
      }
      #expect(pauses.first == .milliseconds(100) && pauses.max() == .seconds(2), "\(outcome)")
      #expect(elapsed == .seconds(30), "\(outcome)")
      guard case .stop(.unknown(let error)) = tries.decide(outcome, elapsed: elapsed) else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(error.reason == .unreachable)
    }
  }

  @Test func `answers of random bytes are never taken for stored`() {
    var random = SeededGenerator(seed: 9)
    let good = Array(#"{"stream":"S","seq":7}"#.utf8)
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0...Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var tries = PutTries(into: "S", last: 7)
      let decision = tries.decide(PutOutcome(BrokerMessage(subject: "", bytes: bytes)), elapsed: .zero)
      let isSame = (try? DocumentValue(json: bytes)) == (try? DocumentValue(json: good))
      #expect((decision == .stored) == isSame, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  // MARK: Configuration

  private static let names = StreamNames(copy: "desk")
  private static let setups = [
    StreamSetup.log(names, replicas: 3), StreamSetup.side(names, replicas: 3),
  ]

  /// What a server of version 2.15.1 answers.
  private func echo(_ setup: StreamSetup, _ change: (String) -> String = { $0 }) throws -> DocumentValue {
    let json = change(setup.json)
    return try DocumentValue(
      json:
        #"{"config":\#(json.dropLast()),"duplicate_window":120000000000,"consumer_limits":{},"mirror_direct":false,"#
        + #""sealed":false,"max_consumers":-1,"metadata":{"_nats.ver":"2.15.1","_nats.level":"5"}},"cluster":{"leader":"n1"}}"#
    )
  }

  @Test func `a stream that is set up as asked is taken`() throws {
    for setup in Self.setups { try setup.check(try echo(setup)) }
  }

  @Test(arguments: [
    (#""num_replicas":3"#, #""num_replicas":1"#), (#""storage":"file""#, #""storage":"memory""#),
    (#""discard":"new""#, #""discard":"old""#), (#""retention":"limits""#, #""retention":"interest""#),
    (#""max_msgs":-1"#, #""max_msgs":1000"#), (#""max_bytes":-1"#, #""max_bytes":1"#),
    (#""max_age":0"#, #""max_age":1"#), (#""max_msgs_per_subject":-1"#, #""max_msgs_per_subject":1"#),
    (#""max_msg_size":-1"#, #""max_msg_size":100"#), (#""allow_direct":true"#, #""allow_direct":false"#),
    (#""allow_atomic":true"#, #""allow_atomic":false"#), (#","allow_atomic":true"#, ""),
    (#","allow_direct":true"#, ""), (#","num_replicas":3"#, ""),
    (#""compression":"none""#, #""compression":"s2""#), (#""deny_delete":false"#, #""deny_delete":true"#),
    (#""deny_purge":true"#, #""deny_purge":false"#),
    (#""allow_rollup_hdrs":false"#, #""allow_rollup_hdrs":true"#),
    (#"STRATA.desk.log"#, #"STRATA.desk.other"#), ("{", #"{"no_ack":true,"#),
    ("{", #"{"mirror":{"name":"x"},"#),
    ("{", #"{"sources":[{"name":"x"}],"#), ("{", #"{"republish":{"src":"a"},"#),
    ("{", #"{"persist_mode":"async","#),
    ("{", #"{"subject_transform":{"src":"a"},"#), ("{", #"{"allow_msg_ttl":true,"#),
  ])
  func `a stream that differs in a field is refused with the field's name`(old: String, new: String) throws {
    let setup = Self.setups[0]
    let changed = try echo(setup) { json in
      guard let range = json.firstRange(of: old) else { return json }
      return json.replacing(old, with: new, subrange: range.lowerBound..<json.endIndex, maxReplacements: 1)
    }
    let field = (new.isEmpty ? old : new).split(separator: "\"").first {
      $0 != "," && $0 != "{" && $0 != "{\""
    }!
    do throws(CarrierError) {
      try setup.check(changed)
      Issue.record("taken")
    } catch {
      #expect(error.reason == .unfit)
      #expect(
        error.what.contains(field) || field.hasPrefix("STRATA") && error.what.contains("subjects"), "\(error)"
      )
    }
  }

  @Test func `a stream whose leader is too old, or does not say how old, is refused by version`() throws {
    let setup = Self.setups[0]
    for version in ["2.9.10", "2.11.4", "x"] {
      let answer = try DocumentValue(json: echo(setup).json().replacing("2.15.1", with: version))
      do throws(CarrierError) {
        try setup.check(answer)
        Issue.record("taken")
      } catch { #expect(error.what.contains(version)) }
    }
    let bare = try DocumentValue(json: #"{"config":\#(setup.json)}"#)
    #expect(throws: CarrierError.self) { try setup.check(bare) }
    #expect(throws: CarrierError.self) { try setup.check(.null) }
    #expect(throws: CarrierError.self) { try setup.check(["config": 3]) }
  }

  @Test func `states that contradict themselves are none`() throws {
    func state(_ first: UInt64, _ last: UInt64, _ count: UInt64) -> StreamState? {
      StreamState([
        "state": [
          "first_seq": DocumentValue(first), "last_seq": DocumentValue(last),
          "messages": DocumentValue(count),
        ]
      ])
    }
    #expect(
      state(1, 9, 9)?.deletedCount == 0 && state(0, 0, 0)?.last == 0 && state(3, 9, 5)?.deletedCount == 2)
    #expect(state(10, 9, 0)?.first == 10)
    #expect(
      state(11, 9, 0) == nil && state(1, 9, 10) == nil && state(1, .max, 0) == nil && state(.max, 5, 0) == nil
    )
    #expect(
      StreamState(.null) == nil && StreamState(["state": [:]]) == nil && StreamState(["state": 1]) == nil)
  }

  // MARK: Parts

  @Test func `a list of parts reads back, and no other bytes do`() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
    let parts = ObjectParts(of: bytes, partSize: 300)
    #expect(parts.count == 4 && parts.size == 1000 && ObjectParts(decoding: parts.bytes) == parts)
    #expect(parts.describes(bytes) && !parts.describes(bytes.dropLast()) && parts.digits.count == 64)
    var random = SeededGenerator(seed: 4)
    for end in 0..<ObjectParts.length {
      #expect(ObjectParts(decoding: Array(parts.bytes.prefix(end))) == nil)
    }
    #expect(ObjectParts(decoding: parts.bytes + [0]) == nil)
    for _ in 0..<10_000 {
      var changed = parts.bytes
      changed[Int.random(in: 0..<16, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      if let read = ObjectParts(decoding: changed) {
        #expect(read.count <= Int(ObjectParts.countMax) && read.size <= Int(ObjectParts.sizeMax))
      }
    }
    var long = parts.bytes
    for index in 8..<14 { long[index] = 0xFF }
    #expect(ObjectParts(decoding: long) == nil)
    var huge = parts.bytes
    for index in 4..<16 { huge[index] = 0xFF }
    #expect(ObjectParts(decoding: huge) == nil)
  }
}
