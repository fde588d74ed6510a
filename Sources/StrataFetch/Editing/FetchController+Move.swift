// Moving rows of a list in manual order.

internal import StrataBase
public import StrataDocuments
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The result of a move.
public enum ListMove: Sendable {
  /// The row is already there; nothing was appended.
  case unchanged
  /// The row has a new rank, and a new section if it was moved to another one: one event.
  case moved(AppendReceipt)
  /// No rank was left between the neighbours, so rows around the moved one got new ranks too: one append, with
  /// `rowCount` events.
  case renumbered(AppendReceipt, rowCount: Int)

  /// The receipt of the append, nil if nothing was appended.
  public var receipt: AppendReceipt? {
    switch self {
    case .unchanged: nil
    case .moved(let receipt), .renumbered(let receipt, _): receipt
    }
  }
}

extension FetchController where Item: Codable {
  /// Moves the row at one index of a snapshot, by default of `snapshot`, to another index.
  ///
  /// The list has to be one of documents, with `sortedManually` as its first sort. Usually only the moved row is
  /// written, by one event with its new rank. In another section it gets that section's value too, provided that the
  /// section is a writable property or a field.
  ///
  /// If the list has changed since, the row is put after the row that it was dropped after, at that row's current
  /// position in the section; if that row has left the section, before the row that it was dropped before; if both
  /// have, `conflict` is thrown. Moves of one store are carried out one after the other. A row that is dropped at its
  /// own index stays where it is by then.
  ///
  /// - Parameters:
  ///   - target: the section as it is shown now, and the row's index in it after the move, from 0 to the number of other
  ///     rows that the section shows. Rows that a limit hides come after it; if the section shows no other row and a
  ///     window is pinned to the end, before it.
  ///   - metadata: the metadata of each event that the move appends, also of those that give other rows new ranks.
  @discardableResult
  public func move(
    from index: ListIndex, to target: ListIndex, of shown: ListSnapshot<Item, Section>? = nil,
    metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    let snapshot = try await self.shown(shown)
    try snapshot.check(index)
    guard target.section >= 0, target.section < snapshot.numberOfSections else {
      throw ListEditError.outOfRange(
        "the list shows \(snapshot.numberOfSections) sections; section \(target.section) is out of range")
    }
    let isSame = target.section == index.section
    let count = snapshot.numberOfItems(inSectionAt: target.section) - (isSame ? 1 : 0)
    guard target.item >= 0, target.item <= count else {
      throw ListEditError.outOfRange(
        "section \(target.section) shows \(count) other items; index \(target.item) is out of range")
    }
    // Converts an index without the moved row to one that counts it.
    func neighbour(_ other: Int) -> Item.ID? {
      guard other >= 0, other < count else { return nil }
      let item = isSame && other >= index.item ? other + 1 : other
      return snapshot.itemIdentifier(at: ListIndex(section: target.section, item: item))
    }
    let (id, version) = (snapshot.itemIdentifier(at: index), snapshot.version)
    let target = MoveTarget(
      previous: target == index ? id : neighbour(target.item - 1), next: neighbour(target.item),
      section: version.withSection(at: target.section) { key, _, _ in Array(key) },
      isAtFront: version.window.list.pin == .beginning && version.window.section.pin == .beginning)
    return try await move(id, to: target, metadata)
  }

  /// Moves a row directly before another one, into its section. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, before other: Item.ID, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await move(id, to: MoveTarget(next: other, section: try await section(of: other)), metadata)
  }

  /// Moves a row directly after another one, into its section. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, after other: Item.ID, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await move(id, to: MoveTarget(previous: other, section: try await section(of: other)), metadata)
  }

  /// Moves a row to the front of a section, which may be empty. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, toFrontOf section: Section, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await move(id, to: MoveTarget(section: request.encodeSection(section), isAtFront: true), metadata)
  }

  /// Moves a row to the end of a section, which may be empty. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, toEndOf section: Section, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await move(id, to: MoveTarget(section: request.encodeSection(section)), metadata)
  }
}

extension FetchController where Item: Codable {
  /// The key of the section that a row is in now. Needs no view.
  private func section(of id: Item.ID) async throws -> [UInt8] {
    let definition: ViewDefinition
    do throws(ListError) { definition = try request.compiled(decode: rows.decode).definition } catch {
      throw ListEditError.list(error)
    }
    let set = try await ListEditError.wrapping {
      try await rows.projector.state(reaching: rows.store.head.sequence)
    }
    var text = id.documentID
    var key = PlacedKey()
    text.withUTF8Row { id in
      var writer = SortKeyWriter()
      set[rows.name].withRow(id) { key.place($0, by: definition, &writer) }
    }
    guard key.isShown else { throw ListEditError.absent("\(id.documentID) is not in the list") }
    return Array(key.bytes.prefix(key.sectionLength))
  }

  private func newest(_ request: ListRequest<Item, Section>) async throws -> ListVersion {
    try await ListEditError.wrapping { try await rows.newestSnapshot(request).version }
  }

  private func move(
    _ id: Item.ID, to target: MoveTarget<Item.ID>, _ metadata: DocumentObject
  ) async throws -> ListMove {
    let editor = try RowEditor(request, rows, metadata)
    let bytes = MoveTarget(
      previous: target.previous.map { Array($0.documentID.utf8) },
      next: target.next.map { Array($0.documentID.utf8) }, section: target.section,
      isAtFront: target.isAtFront)
    let stream = StreamName(category: rows.name, id: id.documentID)
    let (moves, documents) = (rows.store.attachment { MoveTurns() }.turns, rows.store.documentTurns)
    // Always in this order, so that two moves never wait for each other.
    try await moves.take(.it)
    defer { moves.give() }
    try await documents.turns.take(stream)
    defer { documents.turns.give(stream) }
    return try await carryOut(Array(id.documentID.utf8), to: bytes, editor, documents.retries())
  }

  private func carryOut(
    _ id: [UInt8], to target: MoveTarget<[UInt8]>, _ editor: RowEditor<Item, Section>, _ retries: Retries
  ) async throws -> ListMove {
    let store = rows.store
    var retries = retries
    // Held until the end, so that the view is built at most once.
    let lease = rows.projector.lease(editor.definition, of: rows.name)
    defer { withExtendedLifetime(lease) {} }
    repeat {
      let version = try await newest(editor.request)
      let plan = try MovePlanner(version: version, isReverse: editor.isReverse).plan(id, to: target)
      var events: [NewEvent] = []
      var versions: [StreamName: ExpectedVersion] = [:]
      for row in plan.rows {
        guard let event = try editor.event(for: row, in: version.table) else { continue }
        events.append(event)
        let count = try await ListEditError.wrapping {
          try await store.version(of: event.stream)
        }
        versions[event.stream] = .exactly(count)
      }
      if events.isEmpty { return .unchanged }
      // If a row has not changed until now, its content in the plan is the content of the stream versions just read.
      let later = try await newest(editor.request)
      let isSame = plan.rows.allSatisfy { row in
        row.id.withUnsafeBytes { id in later.table.withRow(id) { $0?.revision == row.revision } }
      }
      guard isSame else { continue }
      do {
        let receipt = try await store.append(events, expecting: versions)
        return events.count == 1 ? .moved(receipt) : .renumbered(receipt, rowCount: events.count)
      } catch let error as StoreError {
        guard case .conflict = error else { throw ListEditError.store(error) }
      }
    } while try await retries.resume()
    let stream = StreamName(category: rows.name, id: String(decoding: id, as: UTF8.self))
    throw ListEditError.changedAgain(stream.text)
  }
}

/// Moves of a store run one at a time, so that each sees where the previous one has put its row.
private final class MoveTurns: Sendable {
  let turns = Turns<OneThing>()
}
