// Putting objects into the stream.

internal import StrataDocuments
public import StrataReplica

extension JetStreamCarrier {
  /// How much goes into one batch: servers keep it in memory until it is whole, and take 1,000 messages.
  private static let batchCountMax = 256
  private static let batchSizeMax = 4 << 20

  /// Puts objects whose numbers follow each other. O(bytes).
  ///
  /// Objects that are put together are one batch, stored as a whole or not at all, with the fence on its first message. With
  /// a fence on each instead, and all of them sent at once, another writer's object at number n would not keep this
  /// writer's n + 1 out. A fence on this writer's own subject besides would; but servers refuse it while an earlier
  /// message of the subject is on its way (10164, in 2.15.1), so that each object would wait for the one before it. A batch
  /// is as fast as a pipeline, and leaves no doubt.
  ///
  /// No message has an id: servers look for ids before the fence, in a table of the last two minutes. The fence alone
  /// makes a put that is repeated harmless, at any time.
  public func put(_ objects: [CarrierObject]) -> CarrierAnswer {
    let begin = time.now()
    var count = 0
    while count < objects.count {
      let stop: CarrierStop?
      let end: Int
      do throws(CarrierError) {
        let partSize = try asking(names.log) { () throws(LinkFailure) -> Int in try partSizeMax() }
        var messages: [BrokerMessage] = []
        var size = 0
        var index = count
        while index < objects.count, messages.count < Self.batchCountMax {
          let object = objects[index]
          let bytes = try message(for: object, partSize: partSize, since: begin)
          guard messages.isEmpty || size + bytes.count <= Self.batchSizeMax else { break }
          messages.append(BrokerMessage(subject: names.logSubject, bytes: bytes))
          size += bytes.count
          index += 1
        }
        end = index
        stop = store(messages, into: names.log, after: objects[count].number - 1, since: begin)
      } catch {
        return .stopped(count: count, error.reason == .unreachable ? .unknown(error) : .refused(error))
      }
      if let stop { return .stopped(count: count, stop) }
      count = end
      note(objects[end - 1].number)
      link.hint(names.hint)
    }
    return .stored
  }

  /// What the log gets for an object: itself, or the list of its parts, which are put before.
  func message(
    for object: CarrierObject, _ kind: StreamNames.Parts = .put, partSize: Int, since begin: Duration
  ) throws(CarrierError) -> [UInt8] {
    guard object.bytes.count > partSize else { return object.bytes }
    let parts = ObjectParts(of: object.bytes, partSize: partSize)
    for index in 0..<parts.count {
      let subject = names.part(index, of: parts, object.number, kind)
      let query = #"{"last_by_subj":\#(DocumentValue.string(subject).json())}"#
      let bytes = Array(object.bytes[index * partSize..<min((index + 1) * partSize, parts.size)])
      // A second copy would have to be erased with the first.
      if let found = try leaderMessage(names.side, query), found.bytes == bytes { continue }
      try storeBeside(BrokerMessage(subject: subject, bytes: bytes), since: begin)
    }
    return parts.bytes
  }

  /// Stores a message in the side stream.
  func storeBeside(_ message: BrokerMessage, since begin: Duration? = nil) throws(CarrierError) {
    switch store([message], into: names.side, after: nil, since: begin ?? time.now()) {
    case nil: return
    case .taken?: throw .silence(names.side, "another message was stored meanwhile")
    case .unknown(let error)?, .refused(let error)?: throw error
    }
  }

  /// Stores messages of one stream, one after another. Returns nil if they are stored.
  ///
  /// - Parameters:
  ///   - fence: the sequence that the last message before them must have; nil for any.
  ///   - begin: since when it is tried.
  func store(
    _ messages: [BrokerMessage], into stream: String, after fence: UInt64?, since begin: Duration
  ) -> CarrierStop? {
    var tries = PutTries(into: stream, last: fence.map { $0 + UInt64(messages.count) })
    let messages = batch(messages, after: fence)
    while true {
      let outcome: PutOutcome
      do throws(LinkFailure) {
        outcome = PutOutcome(try link.request(messages, within: PutTries.ofOneTry))
      } catch { outcome = .failure(error) }
      switch tries.decide(outcome, elapsed: time.now() - begin) {
      case .stored: return nil
      case .again(let pause): time.sleep(pause)
      case .stop(.unknown(let error)):
        // Without a stream nobody answers either.
        return isGone(stream)
          ? .refused(.wentBack("the stream \(stream) of \(name) is not there any more")) : .unknown(error)
      case .stop(let stop): return stop
      }
    }
  }

  /// Whether the servers say that there is no such stream.
  private func isGone(_ stream: String) -> Bool {
    do throws(CarrierError) { return try info(stream) == nil } catch { return false }
  }

  /// The messages with their fence, and as a batch if they are several.
  private func batch(_ messages: [BrokerMessage], after fence: UInt64?) -> [BrokerMessage] {
    var messages = messages
    // By hand also for 0, which the C client does not send.
    if let fence { messages[0].headers[Header.expectedLast] = String(fence) }
    guard messages.count > 1 else { return messages }
    let batch = token()
    for index in messages.indices {
      messages[index].headers[Header.batch] = batch
      messages[index].headers[Header.indexInBatch] = String(index + 1)
    }
    messages[messages.count - 1].headers[Header.commit] = "1"
    return messages
  }
}
