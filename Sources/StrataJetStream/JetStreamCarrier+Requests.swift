// Questions to the servers, which are asked again, and their answers.

internal import StrataBase
internal import StrataDocuments
internal import StrataReplica

extension JetStreamCarrier {
  private static let triesMax = 4
  private static let pause = Duration.milliseconds(100)
  /// Servers take up to nine seconds to see that a leader is gone.
  private static let within = Duration.seconds(12)

  /// Asks something that may be asked again, for as long as another leader may take to be found. Each try is with another
  /// server if one does not answer.
  func asking<Result>(
    _ stream: String, _ body: () throws(LinkFailure) -> Result
  ) throws(CarrierError) -> Result {
    let begin = time.now()
    while true {
      do throws(LinkFailure) { return try body() } catch {
        if case .refused(let error) = error { throw error }
        guard time.now() - begin < Self.within else { throw .silence(stream, error.sentence) }
      }
      time.sleep(Self.pause)
    }
  }

  /// Calls the API of JetStream. Errors that no call expects are thrown.
  func api(_ call: String, _ stream: String, _ json: String = "") throws(CarrierError) -> APIAnswer {
    var last = "the answer is none of a server"
    for attempt in 0..<Self.triesMax {
      if attempt > 0 { time.sleep(Self.pause * (1 << attempt)) }
      let answer = try asking(stream) { () throws(LinkFailure) in
        try link.request(
          BrokerMessage(subject: "$JS.API.\(call).\(stream)", bytes: Array(json.utf8)),
          within: PutTries.ofOneTry)
      }
      guard let read = APIAnswer(answer.bytes) else { continue }
      switch read.error?.code {
      case APICode.notAvailable?, APICode.noClusterLeader?: last = read.error!.sentence
      case APICode.notEnabled?, APICode.notEnabledForAccount?:
        throw CarrierError(
          .unfit, what: "JetStream is not enabled: \(read.error!.sentence)",
          next: "configure jetstream on every server, and for the account")
      default: return read
      }
    }
    throw .silence(stream, last)
  }

  /// What the leader of a stream says of it; nil if there is no such stream.
  func info(_ stream: String, _ json: String = "") throws(CarrierError) -> DocumentValue? {
    let answer = try api("STREAM.INFO", stream, json)
    guard let error = answer.error else { return answer.value }
    if error.code == APICode.streamNotFound { return nil }
    throw .silence(stream, error.sentence)
  }

  /// How often a leader that knows of less than was there is asked again: one that has slept does not know yet that another
  /// leads.
  private static let looksAtHead = 20

  /// The state of the log's stream; nil if there is none, and never was.
  func logState(listing deleted: Bool = false) throws(CarrierError) -> StreamState? {
    for attempt in 0..<Self.looksAtHead {
      if attempt > 0 { time.sleep(Self.pause * 2) }
      let head = state.withLock { $0.head }
      guard let answer = try info(names.log, deleted ? #"{"deleted_details":true}"# : "") else {
        guard head > 0 else { return nil }
        continue
      }
      guard let found = StreamState(answer) else {
        throw .silence(names.log, "the answer does not say what the stream has")
      }
      if found.last >= head {
        note(found.last)
        return found
      }
    }
    let head = state.withLock { $0.head }
    throw .wentBack("the stream \(names.log) of \(name) lacks object \(head), which it had")
  }

  /// The subjects of the side stream that a filter finds.
  func sideSubjects(_ filter: String) throws(CarrierError) -> [String] {
    var found: [String] = []
    while true {
      let query = DocumentValue.string(filter).json()
      guard
        let answer = try info(names.side, #"{"subjects_filter":\#(query),"offset":\#(found.count)}"#)
      else { return found }
      guard case .object(let subjects)? = answer["state"]?["subjects"] else { return found }
      let before = found.count
      for (key, _) in subjects { found.append(String(key)) }
      // Servers list a part at a time.
      guard found.count > before, UInt64(found.count) < answer["total"]?.unsigned ?? 0 else { return found }
    }
  }

  /// A message of a stream.
  struct Stored {
    let subject: String
    let sequence: UInt64
    let bytes: [UInt8]
  }

  /// A message as the leader has it; nil if it has none.
  ///
  /// - Parameter query: by sequence, or the last or next one of a subject.
  func leaderMessage(_ stream: String, _ query: String) throws(CarrierError) -> Stored? {
    let answer = try api("STREAM.MSG.GET", stream, query)
    if let error = answer.error {
      if error.code == APICode.messageNotFound { return nil }
      if error.code == APICode.streamNotFound, state.withLock({ $0.head == 0 }) { return nil }
      if let refusal = CarrierError(refusedBy: error, stream) { throw refusal }
      throw .silence(stream, error.sentence)
    }
    guard let message = answer.value["message"], let subject = message["subject"]?.text,
      let sequence = message["seq"]?.unsigned,
      let bytes = Array((message["data"]?.text ?? "").utf8).lendBytes({ Base64.decoded($0) })
    else { throw .silence(stream, "the answer has no message") }
    return Stored(subject: subject, sequence: sequence, bytes: bytes)
  }

  /// Overwrites a message on every replica. It may be gone already.
  func eraseMessage(_ stream: String, _ sequence: UInt64) throws(CarrierError) {
    let answer = try api("STREAM.MSG.DELETE", stream, #"{"seq":\#(sequence),"no_erase":false}"#)
    guard let error = answer.error, error.code != APICode.sequenceNotFound,
      error.code != APICode.messageNotFound
    else { return }
    throw CarrierError(refusedBy: error, stream) ?? .silence(stream, error.sentence)
  }

  /// Overwrites the messages of the side stream that a filter finds, also those that a later one of the same subject has
  /// hidden.
  func eraseSide(_ filter: String, except kept: UInt64? = nil) throws(CarrierError) {
    var next: UInt64 = 1
    let filter = DocumentValue.string(filter).json()
    while let found = try leaderMessage(names.side, #"{"seq":\#(next),"next_by_subj":\#(filter)}"#) {
      guard found.sequence >= next, found.sequence < .max else {
        throw .silence(names.side, "the answer is not the message that was asked for")
      }
      if found.sequence != kept { try eraseMessage(names.side, found.sequence) }
      next = found.sequence + 1
    }
  }
}
