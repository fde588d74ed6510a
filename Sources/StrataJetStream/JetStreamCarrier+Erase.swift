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
  ///
  /// A call that is interrupted leaves the earlier form, and is made again. The earlier form goes only after the new one was
  /// read back as a whole. Of two members that replace one object, one is refused: a version has one form.
  public func replaceObject(_ object: CarrierObject) throws(CarrierError) {
    let number = object.number
    let original = try leaderMessage(names.log, #"{"seq":\#(number)}"#)
    let before = try replacement(number)
    // A new form beside the original is one of a call that was interrupted.
    guard object.version == (original == nil ? before.map { String($0.version) } : nil) else {
      throw replacedMeanwhile(number)
    }
    let partSize = try asking(names.side) { () throws(LinkFailure) -> Int in try partSizeMax() }
    let bytes = try message(for: object, .new, partSize: partSize, since: time.now())
    if before?.bytes != bytes { try storeReplacement(bytes, number, version: (before?.version ?? 0) + 1) }
    guard let now = try replacement(number), now.bytes == bytes else { throw replacedMeanwhile(number) }
    let parts = ObjectParts(decoding: bytes)
    if let parts, try joined(parts, number, .new) == nil { throw replacedMeanwhile(number) }
    state.withLock { $0.ahead.forget(number) }
    try eraseMessage(names.log, number)
    try eraseSide(names.erased(number), except: now.sequence)
    try eraseSide(names.parts(.put, number))
    for hash in try hashes(names.parts(.new, number), of: .new)[number] ?? [] where hash != parts?.digits {
      try eraseSide(names.parts(.new, number, hash: hash))
    }
  }

  private func replacedMeanwhile(_ number: UInt64) -> CarrierError {
    CarrierError(
      .unreachable, what: "object \(number) was replaced meanwhile", next: "nothing: it is read again")
  }

  /// Stores the new form of an object, if that version has none. An own one that is there already is seen by reading it.
  private func storeReplacement(_ bytes: [UInt8], _ number: UInt64, version: UInt64) throws(CarrierError) {
    let message = BrokerMessage(
      subject: names.erased(number, version), headers: [Header.expectedLastOfSubject: "0"], bytes: bytes)
    switch store([message], into: names.side, after: nil, since: time.now()) {
    case nil, .taken?: return
    case .unknown(let error)?, .refused(let error)?: throw error
    }
  }

  /// The hashes of the objects, by their numbers, whose parts a filter finds.
  private func hashes(
    _ filter: String, of kind: StreamNames.Parts
  ) throws(CarrierError) -> [UInt64: Set<String>] {
    var found: [UInt64: Set<String>] = [:]
    for subject in try sideSubjects(filter) {
      guard let tokens = names.tokens(subject, of: kind.rawValue), tokens.count == 3,
        let number = UInt64(tokens[0]), number > 0
      else { continue }
      found[number, default: []].insert(String(tokens[1]))
    }
    return found
  }

  /// Overwrites the parts of puts that lost, and of those that a crash has cut off.
  ///
  /// A message of the log never changes, so that parts under its number that it does not name belong to nothing. Under a
  /// number that is not taken they may be on their way, and are left.
  func sweepParts() throws(CarrierError) {
    for (number, hashes) in try hashes(names.parts(.put, nil), of: .put) {
      guard let current = try leaderMessage(names.log, #"{"seq":\#(number)}"#) else { continue }
      let kept = ObjectParts(decoding: current.bytes)?.digits
      for hash in hashes where hash != kept { try eraseSide(names.parts(.put, number, hash: hash)) }
    }
  }
}
