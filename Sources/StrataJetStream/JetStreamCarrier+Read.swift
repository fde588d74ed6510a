// Reading objects from the stream.

internal import StrataBase
internal import StrataDocuments
public import StrataReplica

extension JetStreamCarrier {
  /// How often a message that its leader has lost is sought in any replica.
  private static let replicaLooks = 8

  /// Any replica is asked first, for many messages at once if the reader goes from number to number. That something is
  /// not there is only believed of the leader. What the leader has lost is sought in the other replicas.
  public func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? {
    guard number > 0 else { return nil }
    let (known, isSequential) = state.withLock { state in
      let isSequential = state.ahead.isSequential(number)
      return (state.ahead.take(number), isSequential)
    }
    if let known { return try whole(number, known) }
    if let found = try anyMessage(number, readsAhead: isSequential) { return try whole(number, found) }
    // Not there yet, replaced by a form without what was erased, or lost.
    guard let log = try logState(), number <= log.last else { return nil }
    if let found = try leaderMessage(names.log, #"{"seq":\#(number)}"#) {
      return try whole(number, found.bytes)
    }
    if let found = try replacement(number) { return try whole(number, found.bytes, version: found.version) }
    for _ in 0..<Self.replicaLooks {
      if let found = try anyMessage(number, readsAhead: false) { return try whole(number, found) }
    }
    return nil
  }

  /// The message of a number as some replica has it; nil if that has none, or there are none.
  private func anyMessage(_ number: UInt64, readsAhead: Bool) throws(CarrierError) -> [UInt8]? {
    let query =
      readsAhead
      ? #"{"seq":\#(number),"batch":\#(ReadAhead.countMax),"max_bytes":\#(ReadAhead.sizeMax)}"#
      : #"{"seq":\#(number)}"#
    let request = BrokerMessage(subject: "$JS.API.DIRECT.GET.\(names.log)", bytes: Array(query.utf8))
    let found = try asking(names.log) { () throws(LinkFailure) -> [(sequence: UInt64, bytes: [UInt8])] in
      do throws(LinkFailure) { return try messages(request, from: number, isOne: !readsAhead) } catch {
        // Nobody answers for a stream that is not there; its leader says which of the two it is.
        guard error == .noResponders else { throw error }
        return []
      }
    }
    guard let first = found.first, first.sequence == number else { return nil }
    note(number)
    if readsAhead { state.withLock { $0.ahead.keep(Array(found.dropFirst())) } }
    return first.bytes
  }

  /// The messages of an answer, in order. Where a replica lacks one, its number is asked for by itself.
  private func messages(
    _ request: BrokerMessage, from number: UInt64, isOne: Bool
  ) throws(LinkFailure) -> [(sequence: UInt64, bytes: [UInt8])] {
    var found: [(sequence: UInt64, bytes: [UInt8])] = []
    var least = number
    func take(_ answer: BrokerMessage) -> Bool {
      guard answer.status == nil, answer.headers[Header.stream] == names.log, let sequence = answer.sequence,
        sequence >= least, sequence < .max
      else { return false }
      found.append((sequence, answer.bytes))
      least = sequence + 1
      return found.count < ReadAhead.countMax
    }
    if isOne {
      _ = take(try link.request(request, within: PutTries.ofOneTry))
    } else {
      try link.collect(request, within: PutTries.ofOneTry, take)
    }
    return found
  }

  /// What took the place of an object; nil if nothing did.
  func replacement(
    _ number: UInt64
  ) throws(CarrierError) -> (version: UInt64, sequence: UInt64, bytes: [UInt8])? {
    let query = #"{"last_by_subj":\#(DocumentValue.string(names.erased(number)).json())}"#
    guard let found = try leaderMessage(names.side, query),
      let tokens = names.tokens(found.subject, of: "erased"), tokens.count == 2,
      UInt64(tokens[0]) == number, let version = UInt64(tokens[1]), version < .max
    else { return nil }
    return (version, found.sequence, found.bytes)
  }

  /// An object from what the log has under its number: itself, or a list of its parts.
  private func whole(
    _ number: UInt64, _ bytes: [UInt8], version: UInt64? = nil
  ) throws(CarrierError) -> CarrierObject {
    let text = version.map { String($0) }
    guard let parts = ObjectParts(decoding: bytes) else {
      return CarrierObject(number: number, bytes: bytes, version: text)
    }
    if let object = try joined(parts, number, version == nil ? .put : .new) {
      return CarrierObject(number: number, bytes: object, version: text)
    }
    // Parts go when their object is replaced.
    if let new = try replacement(number), new.version != version, new.bytes != bytes {
      return try whole(number, new.bytes, version: new.version)
    }
    // The list is no object, which its reader says with the number.
    return CarrierObject(number: number, bytes: bytes, version: text)
  }

  /// The object whose parts a list names; nil if one of them is missing or is another.
  func joined(
    _ parts: ObjectParts, _ number: UInt64, _ kind: StreamNames.Parts
  ) throws(CarrierError) -> [UInt8]? {
    var object: [UInt8] = []
    for index in 0..<parts.count {
      guard let part = try part(index, of: parts, number, kind), object.count + part.count <= parts.size
      else {
        return nil
      }
      object += part
    }
    return parts.describes(object) ? object : nil
  }

  private func part(
    _ index: Int, of parts: ObjectParts, _ number: UInt64, _ kind: StreamNames.Parts
  ) throws(CarrierError) -> [UInt8]? {
    let subject = names.part(index, of: parts, number, kind)
    let query = #"{"last_by_subj":\#(DocumentValue.string(subject).json())}"#
    let answer = try asking(names.side) { () throws(LinkFailure) -> BrokerMessage? in
      let request = BrokerMessage(subject: "$JS.API.DIRECT.GET.\(names.side)", bytes: Array(query.utf8))
      do throws(LinkFailure) { return try link.request(request, within: PutTries.ofOneTry) } catch {
        guard error == .noResponders else { throw error }
        return nil
      }
    }
    if let answer, answer.status == nil, answer.sequence != nil { return answer.bytes }
    return try leaderMessage(names.side, query)?.bytes
  }

  /// O(1) if nothing was ever erased, otherwise O(objects that were replaced).
  public func extent() throws(CarrierError) -> CarrierExtent {
    guard let log = try logState(listing: true), log.last > 0 else { return CarrierExtent(last: 0) }
    guard log.first > 1 || log.deletedCount > 0 else { return CarrierExtent(last: log.last) }
    let erased: Set<UInt64> = Set(
      try sideSubjects(names.erased(nil)).compactMap { subject in
        names.tokens(subject, of: "erased")?.first.flatMap { UInt64($0) }.flatMap { $0 > 0 ? $0 : nil }
      })
    // As many steps as there are replacements, and messages that are gone.
    var missing: [ClosedRange<UInt64>] = []
    var next: UInt64 = 1
    for number in erased.sorted() where number < log.first {
      if number > next { missing.append(next...number - 1) }
      next = max(next, number + 1)
    }
    if next < log.first { missing.append(next...log.first - 1) }
    for number in Set(log.deleted).sorted() where !erased.contains(number) && number >= log.first {
      guard number < log.last else { break }
      missing.append(number...number)
    }
    return CarrierExtent(last: log.last, missing: missing)
  }
}
