// How an append that was read is appended: as it was, or as one of another log.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

extension EventImporter {
  /// Appends an append of which everything is known.
  ///
  /// - Parameter chain: the chain after it where it was exported.
  func release(_ append: ImportedAppend, chain: UInt64) throws(EventLineProblem) {
    do throws(StoreError) {
      if relation == .known {
        if append.last <= headBefore, try history.chain(after: append.last) == chain {
          openOrders += append.orders
          report.known += 1
          if append.last == headBefore { relation = .exact }
          return
        }
        relation = .added
      }
      openOrders += append.orders
      if relation == .added, !append.isChecked { try checkNames(append) }
      let draft = relation == .exact ? append.exact() : try added(append)
      guard let draft else { return }
      guard try run.add(draft, label: append.line) else {
        throw run.progress.failure?.error ?? .invalid(what: "an earlier append failed")
      }
    } catch {
      if case .invalid(let what, _) = error, failedLine == nil {
        throw refused("the append that begins on line \(append.line) cannot be appended: \(what)")
      }
      submitError = error
      throw refused("")
    }
  }

  /// The append for a store with other events; nil if nothing of it is left, or if the store has it.
  private func added(_ append: ImportedAppend) throws(StoreError) -> AppendDraft? {
    report.ownLeftOut += append.ownCount
    report.erasedLeftOut += append.erasedCount
    report.openOrdersLeftOut = UInt64(max(0, openOrders))
    for consumer in append.consumers { leaveOut(consumer.name, isDeleted: consumer.isDeleted) }
    let id = id(of: append)
    // What was erased since an earlier import makes the append another one; what is left of it must be there.
    if append.erasedCount > 0, !id.isEmpty,
      let known = try store.log.append(withID: id, hasContentOf: append.draft)
    {
      guard known.isSame else {
        throw .idReused(id: String(decoding: id, as: UTF8.self), sequences: known.first...known.last)
      }
      report.known += 1
      return nil
    }
    do throws(DecodingProblem) {
      return try append.added(id: id, salts: store.log.options.saltsEvents)
    } catch {
      throw .invalid(what: "the append that begins on line \(append.line) cannot be read")
    }
  }

  /// Notes that a position of a consumer is left out, or that a consumer is deleted.
  private func leaveOut(_ consumer: String, isDeleted: Bool) {
    let names = report.consumersLeftOut
    let index = names.countAhead { $0.utf8.lexicographicallyPrecedes(consumer.utf8) }
    let exists = index < names.count && names[index].utf8.elementsEqual(consumer.utf8)
    if exists, isDeleted { report.consumersLeftOut.remove(at: index) }
    if !exists, !isDeleted, names.count < Self.consumersMax {
      report.consumersLeftOut.insert(consumer, at: index)
    }
  }

  private static let consumersMax = 1_000

  /// The id by which an append is known again: its own, or one from where it was.
  private func id(of append: ImportedAppend) -> [UInt8] {
    if !append.draft.id.isEmpty { return append.draft.id }
    switch phase {
    case .export(let header), .ended(let header): return Array("\(header.store)@\(append.first)".utf8)
    case .byHand, .beginning: return source.map { Array("\($0)#\(append.line)".utf8) } ?? []
    }
  }

  /// Checks what an application may append. The events of an export that become those of an empty store are taken as
  /// they are.
  func checkNames(_ event: borrowing EventLine) throws(EventLineProblem) {
    guard relation == .added else { return }
    var length = 0
    if case .payload(_, let bytes) = event.content { length = bytes.count }
    let metadata = event.metadata.count
    let (stream, type) = (event.stream, event.type)
    let found = stream.lendBytes { stream in
      type.lendBytes { problem(stream, $0, payload: length, metadata: metadata) }
    }
    if let found { throw refused(found) }
  }

  /// Checks an append that was read while the store could still have been the one that was exported.
  private func checkNames(_ append: ImportedAppend) throws(StoreError) {
    defer { withExtendedLifetime(append.draft) {} }
    let bytes = append.draft.events.bytes
    var cursor = ByteCursor(UnsafeRawPointer(append.draft.events.base), count: bytes.count)
    for _ in 0..<append.draft.eventCount {
      var found: String?
      do throws(DecodingProblem) {
        let event = try cursor.nextEvent()
        let isEvent = event.kind == EventKind.event
        found = problem(
          event.stream, event.type, payload: isEvent ? event.payload.count : 0,
          metadata: isEvent ? event.metadata.count : 0)
      } catch { found = "it cannot be read" }
      if let found { throw .invalid(what: found) }
    }
  }

  /// Why an application may not append an event; nil if it may.
  private func problem(
    _ stream: UnsafeRawBufferPointer, _ type: UnsafeRawBufferPointer, payload: Int, metadata: Int
  ) -> String? {
    guard stream.first != UInt8(ascii: "$") else { return nil }
    let options = store.log.options
    guard payload <= options.payloadSizeMax, metadata <= options.metadataSizeMax else {
      return
        "the payload has \(payload) bytes and the metadata \(metadata), and at most "
        + "\(options.payloadSizeMax) and \(options.metadataSizeMax) are allowed (payloadSizeMax, metadataSizeMax)"
    }
    let name = String(decoding: type, as: UTF8.self)
    guard type.first == UInt8(ascii: "$") else {
      let stream = StreamName(String(decoding: stream, as: UTF8.self))
      let isOfDocuments = store.documentCategories.withLock { $0.contains(Array(stream.category.utf8)) }
      return isOfDocuments
        ? "\(stream) is in a category of documents, which takes no events of other types" : nil
    }
    return DocumentEvent.all.contains(name)
      ? nil
      : "types that begin with $ are reserved for Strata, and \(name.shortened(within: 40)) is unknown"
  }

  /// Ends an import after which the store has the events of the export with their sequences: compares the chain, and
  /// carries out the orders to erase that are open.
  func finishSame() throws(StoreError) {
    report.relation = .same
    guard try store.log.chain(after: lastSequence) == chain else {
      throw .invalid(
        what:
          "the store does not have the chain of the export after sequence \(lastSequence): another caller appended "
          + "to it meanwhile, or the export has revisions that no store gives",
        next: "import the export into a new store that nothing else writes to")
    }
    if openOrders > 0 { report.erased = try store.carryOutImportedOrders() }
  }
}

extension EventStore {
  /// Carries out the open orders of a log that was imported. Returns the number of events that were erased.
  ///
  /// HEAD says that an order is open only now: while the import runs, a writer that opened the store would append the
  /// note that the order is done, and the rest of the export would no longer follow.
  fileprivate func carryOutImportedOrders() throws(StoreError) -> UInt64 {
    try withErasing { () throws(StoreError) in
      let open = try openErasures()
      guard !open.orders.isEmpty else { return 0 }
      try log.setErasing(true)
      let results = try carryOut(open)
      var count: UInt64 = 0
      for order in open.orders { count += try results[order.sequence]?.get() ?? 0 }
      if let failure = open.failure { throw failure }
      return count
    }
  }
}
