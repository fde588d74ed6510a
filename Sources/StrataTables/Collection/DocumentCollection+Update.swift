// Changing a document: read, decide, append what changed, and try again where somebody came in between.

public import StrataEvents

/// What an update came to.
public enum DocumentUpdate<Item: Sendable>: Sendable {
  /// There is no such document; nothing was appended.
  case absent
  /// The body changed nothing; nothing was appended.
  case unchanged(Item)
  /// The document as it is now, and what was appended for it.
  case changed(Item, AppendReceipt)
}

extension DocumentCollection {
  /// How often `update` reads anew before it gives up.
  public static var updateAttemptsMax: Int { 8 }

  /// Changes a document that is there.
  ///
  /// The body gets the newest document, and runs where the caller does. What it changed is appended as a merge
  /// patch (as a whole document where a patch cannot say it), so fields that `Item` does not know stay. If
  /// another append to the document came in between, the body runs again on what is there then, up to eight
  /// times.
  ///
  /// - Throws: `StoreError.conflict` where somebody was faster eight times, and what the body throws; then
  ///   nothing was appended.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ id: Item.ID, _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    let stream = try stream(of: id)
    var conflict: StoreError?
    for _ in 0..<Self.updateAttemptsMax {
      // Before the row is read: what is appended in between is in the row or in the conflict.
      let version = try await store.version(of: stream)
      guard let document = try await document(id) else { return .absent }
      let old = try Self.decoded(document, stream)
      var new = old
      try change(&new)
      guard let event = try Self.event(from: old, to: new, document: document, in: stream) else {
        return .unchanged(old)
      }
      guard new.id.documentID.utf8.elementsEqual(id.documentID.utf8) else {
        throw StoreError.invalid(what: "an update of \(stream) changes its id to \(new.id.documentID)")
      }
      do throws(StoreError) {
        let draft = try store.draft(
          [event], id: nil, time: nil, expecting: [stream: .exactly(version)], isOwn: false)
        return .changed(new, try await store.append(draft))
      } catch {
        guard case .conflict = error else { throw error }
        conflict = error
      }
    }
    throw conflict ?? StoreError.closed
  }

  private func document(_ id: Item.ID) async throws(StoreError) -> DocumentValue? {
    let set = try await table.projector.state(reaching: store.head.sequence)
    var text = id.documentID
    let bytes = text.withUTF8Row { set[category].withRow($0) { $0.map { Array($0.document) } } }
    guard let bytes else { return nil }
    do throws(CodecError) { return try DocumentValue(cbor: bytes) } catch {
      throw .invalid(what: "\(category)/\(id.documentID) is damaged: \(error)")
    }
  }

  private static func decoded(_ document: DocumentValue, _ stream: StreamName) throws -> Item {
    do { return try document.decode(Item.self) } catch {
      throw StoreError.invalid(what: "\(stream): " + RowProblem.sentence(for: error, decoding: Item.self))
    }
  }

  /// The event that says what changed, nil where nothing did.
  private static func event(
    from old: Item, to new: Item, document: DocumentValue, in stream: StreamName
  ) throws -> NewEvent? {
    let (before, after) = (try DocumentValue(encoding: old), try DocumentValue(encoding: new))
    if before == after { return nil }
    if let patch = DocumentValue.mergePatch(from: before, to: after) {
      return NewEvent(DocumentEvent.merge, in: stream, payload: EventPayload(patch))
    }
    let whole = document.replacing(before, by: after)
    return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(whole))
  }
}

extension DocumentValue {
  /// This value with what differs between two others, which know a part of its members: the others stay.
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
