// Replacing objects whose content was erased.

internal import StrataBase
internal import StrataDocuments
public import StrataReplica

extension JetStreamCarrier {
  /// Puts the new form into the side stream, then overwrites the earlier one, which every replica does in its own files.
  ///
  /// When the call returns no client can read the earlier form. Each server's log of what the replicas have agreed on has
  /// it for longer: the server drops that log by itself every two minutes. Nothing that a client may ask for does so
  /// reliably before: in 2.15.1 a leader that steps down drops its own log only, and not if that was done within ten
  /// seconds.
  public func replaceObject(_ object: CarrierObject) throws(CarrierError) {
    let number = object.number
    let before = try replacement(number)
    guard object.version == before.map({ String($0.version) }) else {
      throw CarrierError(
        .unreachable, what: "object \(number) was replaced meanwhile", next: "nothing: it is read again")
    }
    let partSize = try asking(names.side) { () throws(LinkFailure) -> Int in try partSizeMax() }
    let bytes = try message(for: object, partSize: partSize, since: time.now())
    let version = (before?.version ?? 0) + 1
    if before?.bytes != bytes {
      try storeBeside(BrokerMessage(subject: names.erased(number, version), bytes: bytes))
    }
    state.withLock { $0.ahead.forget(number) }
    try eraseMessage(names.log, number)
    guard let now = try replacement(number), now.bytes == bytes else {
      throw CarrierError(
        .unreachable, what: "object \(number) was replaced meanwhile", next: "nothing: it is read again")
    }
    try eraseSide(names.erased(number), except: now.sequence)
    try sweepParts(number)
  }

  /// Overwrites the parts under a number, or under all that are taken, that no list names: of objects that were replaced, of
  /// puts that lost, and of those that a crash has cut off. Under a number that is not taken they may be on their way.
  func sweepParts(_ number: UInt64? = nil) throws(CarrierError) {
    var found: Set<[Substring]> = []
    for subject in try sideSubjects(names.parts(number)) {
      guard let tokens = names.tokens(subject, of: "part"), tokens.count == 3 else { continue }
      found.insert(Array(tokens.prefix(2)))
    }
    guard !found.isEmpty, let log = try logState() else { return }
    for tokens in found {
      guard let number = UInt64(tokens[0]), number > 0, number <= log.last else { continue }
      var current = try leaderMessage(names.log, #"{"seq":\#(number)}"#)?.bytes
      if current == nil { current = try replacement(number)?.bytes }
      // What is lost is no reason to throw away what may be left of it.
      guard let current, ObjectParts(decoding: current)?.digits != String(tokens[1]) else { continue }
      try eraseSide(names.parts(number, hash: tokens[1]))
    }
  }
}
