// Deleting and changing rows of a list, by their ids and places.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
public import StrataTables

extension FetchController where Item: Codable {
  /// For how long an edit reads anew and tries again, where others write its rows, before it gives up: 10 seconds.
  public static var editTimeMax: Duration { Retries.timeMax }

  /// Deletes a row's document. The list need not show it, but it has to be there: of two who delete it, the
  /// second gets `absent`, and one event is appended.
  @discardableResult
  public func delete(_ id: Item.ID) async throws -> AppendReceipt {
    let collection = try editableCollection()
    let receipt = try await ListEditError.wrapping {
      try await deleteInTurn(id, of: collection)
    }
    if let receipt { return receipt }
    throw ListEditError.absent("there is no \(rows.name)/\(id.documentID)")
  }

  /// Deletes the document of the row at a place of a snapshot: of `snapshot`, where none is given.
  @discardableResult
  public func delete(
    at index: ListIndex, of shown: FetchSnapshot<Item, Section>? = nil
  ) async throws -> AppendReceipt {
    try await delete(try await id(at: index, of: shown))
  }

  /// Changes a row's document, as `DocumentCollection.update` does: what the body changed is appended, edits of the
  /// document take turns, and the body runs again where something else was appended to it in between.
  ///
  /// - Throws: `ListEditError.notEditable`, and what `DocumentCollection.update` throws.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ id: Item.ID, _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await editableCollection().update(id, change)
  }

  /// Changes the document of the row at a place of a snapshot: of `snapshot`, where none is given.
  @discardableResult
  public nonisolated(nonsending) func update(
    at index: ListIndex, of shown: FetchSnapshot<Item, Section>? = nil,
    _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await update(try await id(at: index, of: shown), change)
  }
}

extension FetchController where Item: Codable {
  private func editableCollection() throws(ListEditError) -> DocumentCollection<Item> {
    try rows.checkEditable()
    return rows.store.collection(rows.name, of: Item.self)
  }

  /// Nil where there is no such document.
  private func deleteInTurn(
    _ id: Item.ID, of collection: DocumentCollection<Item>
  ) async throws -> AppendReceipt? {
    let stream = try collection.stream(of: id)
    let documents = rows.store.documentTurns
    try await documents.turns.take(stream)
    defer { documents.turns.give(stream) }
    var retries = documents.retries()
    while true {
      // Before the row is looked for: what is appended in between is seen, or is the conflict.
      let version = try await rows.store.version(of: stream)
      guard try await isThere(id) else { return nil }
      do { return try await collection.delete(id, expecting: .exactly(version)) } catch let error
        as StoreError
      {
        guard case .conflict = error, try await retries.goOn() else { throw error }
      }
    }
  }

  private func isThere(_ id: Item.ID) async throws -> Bool {
    let set = try await rows.projector.state(reaching: rows.store.head.sequence)
    var text = id.documentID
    return text.withUTF8Row { id in set[rows.name].withRow(id) { $0 != nil } }
  }

  /// The snapshot that places are meant in.
  func shown(
    _ snapshot: FetchSnapshot<Item, Section>?
  ) async throws -> FetchSnapshot<Item, Section> {
    if let snapshot = snapshot ?? self.snapshot { return snapshot }
    return try await ListEditError.wrapping { try await performFetch() }
  }

  func id(
    at index: ListIndex, of snapshot: FetchSnapshot<Item, Section>?
  ) async throws -> Item.ID {
    let snapshot = try await shown(snapshot)
    try snapshot.check(index)
    return snapshot.itemIdentifier(at: index)
  }
}

extension FetchSnapshot {
  /// Throws where the snapshot shows no such place.
  func check(_ index: ListIndex) throws(ListEditError) {
    guard index.section >= 0, index.section < numberOfSections else {
      throw ListEditError.outOfRange(
        "the list shows \(numberOfSections) sections, and section \(index.section) was meant")
    }
    let count = numberOfItems(inSectionAt: index.section)
    guard index.item >= 0, index.item < count else {
      throw ListEditError.outOfRange(
        "section \(index.section) shows \(count) items, and item \(index.item) was meant")
    }
  }
}
