// A broker in memory that does what servers do at their worst, as a seed decides.

import StrataBase
import StrataDocuments
@testable import StrataJetStream
import StrataReplica
import StrataSimulation

/// Streams in memory, with the API that the carrier calls. What it promises it keeps: fences and batches.
final class MemoryBroker: Sendable {
  struct Message: Equatable {
    var subject: String
    var bytes: [UInt8]
  }

  struct Faults {
    /// A put that was stored or refused, without an answer.
    var lostAnswers = 0.0
    /// A put without an answer that arrives later, or never.
    var latePuts = 0.0
    var lostPuts = 0.0
    /// A part of a batch is lost, as when the leader changes.
    var cutBatches = 0.0
    var failedReads = 0.0
    /// An answer from a replica that lags.
    var staleReads = 0.0
    var ignoresFences = false
    var storesPartsOfBatches = false

    static func all(_ probability: Double) -> Faults {
      var faults = Faults()
      faults.lostAnswers = probability
      faults.latePuts = probability
      faults.lostPuts = probability
      faults.cutBatches = probability
      faults.failedReads = probability
      faults.staleReads = probability
      return faults
    }
  }

  struct Stream {
    var config: DocumentValue
    var messages: [UInt64: Message] = [:]
    var last: UInt64 = 0
    /// Messages that the leader has lost, and a replica has.
    var lostByLeader: Set<UInt64> = []
  }

  struct State {
    var streams: [String: Stream] = [:]
    var late: [[BrokerMessage]] = []
    var faults = Faults()
    var random = SeededGenerator(seed: 0)
    var version = "2.15.1"
    var time = Duration.zero
    var isSilent = false
    /// What the next put is answered, instead of what would be.
    var answers: [[UInt8]] = []
    /// The most messages that one request had.
    var largestBatch = 0
    var sizeMax = 1 << 20
    var requests = 0
    /// After how many requests nothing is answered any more.
    var requestsMax = Int.max

    mutating func happens(_ probability: Double) -> Bool {
      probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }
  }

  let state = Lock(State())

  func setFaults(_ faults: Faults, seed: UInt64) {
    state.withLock { state in
      state.faults = faults
      state.random = SeededGenerator(seed: seed)
    }
  }

  /// Has what is on its way arrive.
  func deliverAll() {
    state.withLock { state in
      for messages in state.late { _ = state.arrive(messages) }
      state.late = []
    }
  }

  func stream(_ name: String) -> Stream? { state.withLock { $0.streams[name] } }

  func change(_ name: String, _ body: (inout Stream) -> Void) {
    state.withLock { state in
      guard var stream = state.streams[name] else { return }
      body(&stream)
      state.streams[name] = stream
    }
  }

  /// A carrier of this broker, whose time passes only where it waits.
  func carrier(
    _ url: String = "nats://127.0.0.1/desk", messageSizeLeast: Int = 64 << 10
  ) throws -> JetStreamCarrier {
    let time = CarrierTime(
      now: { [self] in state.withLock { $0.time } },
      sleep: { [self] duration in state.withLock { $0.time += duration } })
    return JetStreamCarrier(
      try JetStreamAddress.parse(url).0, over: MemoryLink(self), time: time,
      messageSizeLeast: messageSizeLeast)
  }
}

/// A connection to a broker in memory.
final class MemoryLink: BrokerLink {
  private let broker: MemoryBroker

  init(_ broker: MemoryBroker) { self.broker = broker }

  func messageSizeMax() throws(LinkFailure) -> Int { broker.state.withLock { $0.sizeMax } }

  func versions() throws(LinkFailure) -> [(server: String, version: ServerVersion)] {
    broker.state.withLock { [("n0", ServerVersion($0.version)!)] }
  }

  func request(_ messages: [BrokerMessage], within duration: Duration) throws(LinkFailure) -> BrokerMessage {
    try broker.state.withLock { state throws(LinkFailure) in try state.request(messages, within: duration) }
  }

  func collect(
    _ request: BrokerMessage, within duration: Duration, _ body: (BrokerMessage) -> Bool
  ) throws(LinkFailure) {
    let answers = try broker.state.withLock { state throws(LinkFailure) in
      try state.read(request, within: duration)
    }
    for answer in answers { guard body(answer) else { return } }
  }

  func hint(_ subject: String) {}

  func waitForHint(_ subject: String, within duration: Duration) {
    broker.state.withLock { $0.time += .milliseconds(1) }
  }
}

extension MemoryBroker.State {
  fileprivate mutating func request(
    _ messages: [BrokerMessage], within duration: Duration
  ) throws(LinkFailure) -> BrokerMessage {
    requests += 1
    if requests > requestsMax { throw silence(duration) }
    largestBatch = max(largestBatch, messages.count)
    let last = messages[messages.count - 1]
    if isSilent { throw silence(duration) }
    if last.subject.hasPrefix("$JS.API.DIRECT.GET.") { return try read(last, within: duration)[0] }
    if last.subject.hasPrefix("$JS.API.") {
      if happens(faults.failedReads) { throw silence(duration) }
      return BrokerMessage(subject: "", bytes: Array(call(last).json().utf8))
    }
    if !answers.isEmpty { return BrokerMessage(subject: "", bytes: answers.removeFirst()) }
    while !late.isEmpty, Bool.random(using: &random) {
      _ = arrive(late.remove(at: Int.random(in: 0..<late.count, using: &random)))
    }
    if happens(faults.latePuts) {
      late.append(messages)
      throw silence(duration)
    }
    if happens(faults.lostPuts) { throw silence(duration) }
    var arriving = messages
    if messages.count > 1, happens(faults.cutBatches) {
      arriving.remove(at: Int.random(in: 0..<messages.count, using: &random))
    }
    let answer = arrive(arriving)
    if happens(faults.lostAnswers) { throw silence(duration) }
    guard let answer else { throw .noResponders }
    return BrokerMessage(subject: "", bytes: Array(answer.json().utf8))
  }

  private mutating func silence(_ duration: Duration) -> LinkFailure {
    time += duration
    return .silent
  }

  private static func error(_ code: Int, _ text: String = "") -> DocumentValue {
    ["error": ["code": 400, "err_code": .int(Int64(code)), "description": .string(text)], "seq": 0]
  }

  private func name(on subject: String) -> String? {
    streams.first { _, stream in
      stream.config["subjects"]?.items.contains {
        guard let pattern = $0.text else { return false }
        return Self.matches(subject, pattern)
      } ?? false
    }?.key
  }

  static func matches(_ subject: String, _ pattern: String) -> Bool {
    let (subject, pattern) = (subject.split(separator: "."), pattern.split(separator: "."))
    for (index, token) in pattern.enumerated() {
      if token == ">" { return subject.count > index }
      guard index < subject.count, token == "*" || token == subject[index] else { return false }
    }
    return subject.count == pattern.count
  }

  /// Stores messages as a server does; nil if there is no stream.
  mutating func arrive(_ messages: [BrokerMessage]) -> DocumentValue? {
    guard let last = messages.last, let name = name(on: last.subject), var stream = streams[name] else {
      return nil
    }
    if last.headers[Header.batch] != nil, !faults.storesPartsOfBatches {
      let indices = messages.map { Int($0.headers[Header.indexInBatch] ?? "") ?? 0 }
      // Without its last message a batch is never committed, and forgotten.
      guard last.headers[Header.commit] == "1" else { return nil }
      guard indices == Array(1...messages.count) else { return Self.error(10176, "incomplete") }
    }
    if let fence = messages[0].headers[Header.expectedLast], UInt64(fence) != stream.last,
      !faults.ignoresFences
    {
      // The text may name what will never be there.
      return Self.error(10071, "wrong last sequence: \(stream.last + 7)")
    }
    if let fence = last.headers[Header.expectedLastOfSubject] {
      let found = stream.messages.filter { $0.value.subject == last.subject }.keys.max() ?? 0
      if UInt64(fence) != found { return Self.error(10071, "wrong last sequence: \(found)") }
    }
    for message in messages {
      if message.headers[Header.rollup] == "sub" {
        stream.messages = stream.messages.filter { $0.value.subject != message.subject }
      }
      stream.last += 1
      stream.messages[stream.last] = MemoryBroker.Message(subject: message.subject, bytes: message.bytes)
    }
    streams[name] = stream
    return ["stream": .string(name), "seq": .int(Int64(stream.last))]
  }

  /// Answers a direct get, by a replica that may lag.
  fileprivate mutating func read(
    _ request: BrokerMessage, within duration: Duration
  ) throws(LinkFailure) -> [BrokerMessage] {
    requests += 1
    if isSilent || requests > requestsMax || happens(faults.failedReads) { throw silence(duration) }
    let name = String(request.subject.dropFirst("$JS.API.DIRECT.GET.".count))
    guard let stream = streams[name] else { throw .noResponders }
    let lag = happens(faults.staleReads) ? UInt64.random(in: 1...3, using: &random) : 0
    let end = stream.last - min(lag, stream.last)
    let missing = BrokerMessage(subject: "", headers: [Header.status: "404"])
    func found(_ sequence: UInt64, _ message: MemoryBroker.Message) -> BrokerMessage {
      BrokerMessage(
        subject: "", headers: [Header.stream: name, Header.sequence: String(sequence)],
        bytes: message.bytes)
    }
    guard let query = try? DocumentValue(json: request.bytes) else { return [missing] }
    if let subject = query["last_by_subj"]?.text {
      let hits = stream.messages.filter { $0.key <= end && Self.matches($0.value.subject, subject) }
      return hits.max { $0.key < $1.key }.map { [found($0.key, $0.value)] } ?? [missing]
    }
    let first = query["seq"]?.unsigned ?? 0
    guard let count = query["batch"]?.unsigned else {
      return stream.messages[first].flatMap { first <= end ? [found(first, $0)] : nil } ?? [missing]
    }
    let hits = stream.messages.filter { $0.key >= first && $0.key <= end }.sorted { $0.key < $1.key }
    return hits.isEmpty
      ? [missing]
      : hits.prefix(Int(count)).map { found($0.key, $0.value) }
        + [BrokerMessage(subject: "", headers: [Header.status: "204"])]
  }

  /// Answers a call of the API, by the leader.
  private mutating func call(_ request: BrokerMessage) -> DocumentValue {
    let parts = request.subject.dropFirst("$JS.API.".count).split(separator: ".")
    let (call, name) = (parts.dropLast().joined(separator: "."), String(parts[parts.count - 1]))
    let query = (try? DocumentValue(json: request.bytes)) ?? .null
    if call == "STREAM.CREATE" {
      if streams[name] == nil { streams[name] = MemoryBroker.Stream(config: query) }
      return info(name, query)
    }
    guard var stream = streams[name] else { return Self.error(10059, "stream not found") }
    defer { streams[name] = stream }
    switch call {
    case "STREAM.INFO": return info(name, query)
    case "STREAM.MSG.GET":
      var hit: (key: UInt64, value: MemoryBroker.Message)?
      if let subject = query["last_by_subj"]?.text {
        hit = stream.messages.filter { Self.matches($0.value.subject, subject) }.max { $0.key < $1.key }
      } else if let subject = query["next_by_subj"]?.text, let first = query["seq"]?.unsigned {
        hit = stream.messages.filter { $0.key >= first && Self.matches($0.value.subject, subject) }
          .min { $0.key < $1.key }
      } else if let sequence = query["seq"]?.unsigned, !stream.lostByLeader.contains(sequence) {
        hit = stream.messages[sequence].map { (sequence, $0) }
      }
      guard let hit else { return Self.error(10037, "no message found") }
      var text = RawBuffer(capacity: 16)
      hit.value.bytes.withUnsafeBytes { Base64.append($0, to: &text) }
      return [
        "message": [
          "subject": .string(hit.value.subject), "seq": DocumentValue(hit.key),
          "data": .string(String(decoding: text.bytes, as: UTF8.self)),
        ]
      ]
    case "STREAM.MSG.DELETE":
      guard let sequence = query["seq"]?.unsigned, stream.messages.removeValue(forKey: sequence) != nil else {
        return Self.error(10043, "sequence not found")
      }
      return ["success": true]
    case "STREAM.PURGE":
      let filter = query["filter"]?.text ?? ">"
      stream.messages = stream.messages.filter { !Self.matches($0.value.subject, filter) }
      return ["success": true]
    default: return Self.error(10003, "bad request")
    }
  }

  private func info(_ name: String, _ query: DocumentValue) -> DocumentValue {
    let stream = streams[name]!
    let present = stream.messages.keys.filter { !stream.lostByLeader.contains($0) }
    let first = present.min() ?? (stream.last + 1)
    let deleted = stream.last < first ? [] : (first...stream.last).filter { !present.contains($0) }
    var config = stream.config.json()
    config.removeLast()
    config += #","metadata":{"_nats.ver":"\#(version)"}}"#
    var subjects = ""
    if let filter = query["subjects_filter"]?.text {
      let names = Set(stream.messages.values.map(\.subject)).filter { Self.matches($0, filter) }.sorted()
      let offset = Int(query["offset"]?.unsigned ?? 0)
      // A few at a time, as servers list many.
      let page = names.dropFirst(offset).prefix(3).map { "\(DocumentValue.string($0).json()):1" }
      subjects = #","subjects":{\#(page.joined(separator: ","))}"#
      let total = #","total":\#(names.count)"#
      return
        (try? DocumentValue(
          json:
            #"{"config":\#(config),"state":{"messages":\#(present.count),"first_seq":\#(first),"last_seq":\#(stream.last)\#(subjects)}\#(total)}"#
        ))
        ?? .null
    }
    let list =
      query["deleted_details"] == true
      ? #","deleted":[\#(deleted.map(String.init).joined(separator: ","))]"# : ""
    return
      (try? DocumentValue(
        json:
          #"{"config":\#(config),"state":{"messages":\#(present.count),"first_seq":\#(first),"last_seq":\#(stream.last)\#(list)}}"#
      ))
      ?? .null
  }
}
