// Deleting and changing rows of a list, by id or index.

internal import StrataBase
public import StrataDocuments
public import StrataEvents
public import StrataLists
internal import StrataLog
public import StrataPast
internal import StrataTables

extension FetchController where Item: Codable {
  /// For how long an edit reads and tries again while its rows are being changed concurrently: 10 seconds.
  package static var editTimeMax: Duration { Retries.timeMax }

  /// Deletes a row's document. The list need not show the row, but the document must exist: when two calls delete it,
  /// the second throws `absent`, and only one event is appended.
  ///
  /// - Parameter metadata: the metadata of the event.
  @discardableResult
  public func delete(_ id: Item.ID, metadata: DocumentObject = [:]) async throws -> AppendReceipt {
    let collection = try editableCollection()
    let receipt = try await ListEditError.wrapping {
      try await deleteInTurn(id, of: collection, metadata)
    }
    if let receipt { return receipt }
    throw ListEditError.absent("\(rows.name)/\(id.documentID) does not exist")
  }

  /// Deletes the document of the row at an index of a snapshot, by default of `snapshot`. The event gets the metadata.
  @discardableResult
  public func delete(
    at index: ListIndex, of shown: ListSnapshot<Item, Section>? = nil, metadata: DocumentObject = [:]
  ) async throws -> AppendReceipt {
    try await delete(try await id(at: index, of: shown), metadata: metadata)
  }

  /// Changes a row's document, as `DocumentCollection.update` does. What the body changed is appended. Edits of one
  /// document take turns, and the body runs again if something else was appended to the document in between.
  ///
  /// - Parameter metadata: the metadata of the event.
  /// - Throws: `ListEditError.notEditable`, and what `DocumentCollection.update` throws.
  @discardableResult
  public nonisolated(nonsending) func update(
    _ id: Item.ID, metadata: DocumentObject = [:], _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await editableCollection().update(id, metadata: metadata, change)
  }

  /// Changes the document of the row at an index of a snapshot, by default of `snapshot`. The event gets the metadata.
  @discardableResult
  public nonisolated(nonsending) func update(
    at index: ListIndex, of shown: ListSnapshot<Item, Section>? = nil, metadata: DocumentObject = [:],
    _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await update(try await id(at: index, of: shown), metadata: metadata, change)
  }
}

extension FetchController where Item: Codable {
  private func editableCollection() throws(ListEditError) -> DocumentCollection<Item> {
    try rows.checkEditable()
    return rows.store.collection(rows.name, of: Item.self)
  }

  /// Nil if the document does not exist.
  private func deleteInTurn(
    _ id: Item.ID, of collection: DocumentCollection<Item>, _ metadata: DocumentObject
  ) async throws -> AppendReceipt? {
    let stream = try collection.stream(of: id)
    let documents = rows.store.documentTurns
    try await documents.turns.take(stream)
    defer { documents.turns.give(stream) }
    var retries = documents.retries()
    while true {
      // Read before the row is looked up: an append in between is either seen or causes the conflict.
      let version = try await rows.store.version(of: stream)
      guard try await exists(id) else { return nil }
      do {
        return try await collection.delete(id, expecting: .exactly(version), metadata: metadata)
      } catch let error as StoreError {
        guard case .conflict = error, try await retries.resume() else { throw error }
      }
    }
  }

  private func exists(_ id: Item.ID) async throws -> Bool {
    let set = try await rows.projector.state(reaching: rows.store.head.sequence)
    var text = id.documentID
    return text.withUTF8Row { id in set[rows.name].withRow(id) { $0 != nil } }
  }

  /// The snapshot that indexes refer to.
  func shown(
    _ snapshot: ListSnapshot<Item, Section>?
  ) async throws -> ListSnapshot<Item, Section> {
    if let snapshot = snapshot ?? self.snapshot { return snapshot }
    return try await ListEditError.wrapping { try await performFetch() }
  }

  func id(
    at index: ListIndex, of snapshot: ListSnapshot<Item, Section>?
  ) async throws -> Item.ID {
    let snapshot = try await shown(snapshot)
    try snapshot.check(index)
    return snapshot.itemIdentifier(at: index)
  }
}

extension ListSnapshot {
  /// Throws if the index is out of range in the snapshot.
  func check(_ index: ListIndex) throws(ListEditError) {
    guard index.section >= 0, index.section < numberOfSections else {
      throw ListEditError.outOfRange(
        "the list shows \(numberOfSections) sections; section \(index.section) is out of range")
    }
    let count = numberOfItems(inSectionAt: index.section)
    guard index.item >= 0, index.item < count else {
      throw ListEditError.outOfRange(
        "section \(index.section) shows \(count) items; item \(index.item) is out of range")
    }
  }
}
