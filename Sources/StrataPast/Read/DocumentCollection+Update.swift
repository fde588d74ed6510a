// Updating a document: take a turn, read, change, append, and retry if another write came in between.

internal import StrataBase
public import StrataDocuments
public import StrataEvents
public import StrataLog
internal import StrataTables

/// The result of an update.
public enum DocumentUpdate<Item: Sendable>: Sendable {
  /// The document does not exist; nothing was appended.
  case absent
  /// The body changed nothing; nothing was appended.
  case unchanged(Item)
  /// The document after the change, and the receipt of the append.
  case changed(Item, AppendReceipt)
}

extension DocumentCollection {
  /// How long `update` retries after conflicts, counted from the start of its turn: 10 seconds.
  package static var updateTimeMax: Duration { Retries.timeMax }

  /// Changes an existing document.
  ///
  /// The body receives the newest document and runs in the caller's isolation. The change is appended as a merge patch,
  /// or as a whole document if a patch cannot express it, so fields that `Item` does not know are kept. An array that
  /// the body changes is replaced as a whole (RFC 7396): the objects in it lose the fields that their types do not
  /// know.
  ///
  /// Updates of one document through one `EventStore` take turns in the order of the calls, and so do not conflict with
  /// each other. If something else was appended to the document in between, such as a `put`, the body runs again with
  /// the newest document. It does so until ten seconds have passed since the update got its turn, with pauses of at
  /// most 16 ms. So the body may run any number of times and should change nothing but the document.
  ///
  /// - Parameters:
  ///   - expected: the version that the document must have when it is read. If it has another one, `conflict` is thrown
  ///     at once.
  ///   - metadata: the metadata of the event.
  /// - Returns: once the append is as durable as the store was opened for.
  /// - Throws: `StoreError.conflict` if other writes came first for ten seconds, `CancellationError` if the task is
  ///   cancelled before the append, what the body throws, and what reading and appending throw. Nothing was appended
  ///   then, except with the reason `poisoned`: the change may or may not be in the log after the next open, so read
  ///   the document there before you repeat the update.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ id: Item.ID, expecting expected: ExpectedVersion = .any, metadata: DocumentObject = [:],
    _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    let stream = try stream(of: id)
    let documents = store.documentTurns
    try await documents.turns.take(stream)
    defer { documents.turns.give(stream) }
    var retries = documents.retries()
    while true {
      // Read before the row: an append after this is either in the row or causes the conflict.
      let version = try await store.version(of: stream)
      guard expected.isMet(by: version) else {
        throw StoreError.conflict(stream: stream.text, expected: expected, actual: version)
      }
      guard let document = try await document(id) else { return .absent }
      let old = try Self.decoded(document, stream)
      guard old.id.documentID.utf8.elementsEqual(id.documentID.utf8) else {
        let what = DocumentIDMismatch.sentence(stream: id.documentID, document: old.id.documentID)
        throw StoreError.undecodable(what: "\(stream): \(what)")
      }
      // Encoded now, because the body changes an instance of a class in place.
      let before = try DocumentValue(encoding: old)
      var new = old
      try change(&new)
      guard var event = try Self.event(from: before, to: new, document: document, in: stream) else {
        return .unchanged(old)
      }
      event.metadata = metadata
      guard new.id.documentID.utf8.elementsEqual(id.documentID.utf8) else {
        throw StoreError.invalid(what: "an update of \(stream) changes its id to \(new.id.documentID)")
      }
      do {
        let draft = try store.draft(
          [event], id: nil, time: nil, expecting: [stream: .exactly(version)], isOwn: false)
        return .changed(new, try await store.append(draft))
      } catch let error as StoreError {
        guard case .conflict = error, try await retries.resume() else { throw error }
      }
    }
  }

  private func document(_ id: Item.ID) async throws -> DocumentValue? {
    let set = try await table.projector.state(reaching: store.head.sequence)
    var text = id.documentID
    let bytes = text.withUTF8Row { set[category].withRow($0) { $0.map { Array($0.document) } } }
    guard let bytes else { return nil }
    do throws(CodecError) { return try DocumentValue(cbor: bytes) } catch {
      throw StoreError.undecodable(what: "\(category)/\(id.documentID) is damaged: \(error)")
    }
  }

  private static func decoded(_ document: DocumentValue, _ stream: StreamName) throws -> Item {
    do { return try document.decode(Item.self) } catch {
      throw StoreError.undecodable(what: "\(stream): " + RowProblem.sentence(for: error, decoding: Item.self))
    }
  }

  /// The event for a change, nil if nothing changed.
  private static func event(
    from before: DocumentValue, to new: Item, document: DocumentValue, in stream: StreamName
  ) throws -> NewEvent? {
    let after = try DocumentValue(encoding: new)
    if before == after { return nil }
    if let patch = DocumentValue.mergePatch(from: before, to: after) {
      return NewEvent(DocumentEvent.merge, in: stream, payload: EventPayload(patch))
    }
    let whole = document.replacing(before, by: after)
    return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(whole))
  }
}

extension DocumentValue {
  /// This value with the differences between two others applied. Members that neither of the two has are kept.
  package func replacing(_ old: DocumentValue, by new: DocumentValue) -> DocumentValue {
    guard case .object(var object) = self, case .object(let old) = old, case .object(let new) = new else {
      return new
    }
    for (key, _) in old where new[key] == nil { object.removeValue(forKey: key) }
    for (key, value) in new where old[key] != value {
      object[key] = (object[key] ?? .null).replacing(old[key] ?? .null, by: value)
    }
    return .object(object)
  }
}
