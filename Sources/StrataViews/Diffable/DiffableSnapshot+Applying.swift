// Applying changes to a snapshot.

public import StrataLists

extension DiffableSnapshot {
  /// Applies changes to the snapshot, and removes its marks. If it throws, the snapshot is unchanged.
  ///
  /// The changes contain the identifiers of inserted items and sections: for all a and b, a with `b.difference(from: a)`
  /// applied is b.
  ///
  /// O(changes + sections + items of the sections that change), and O(n) if items are inserted and the snapshot has no
  /// index of its items yet. The index moves to the result: a copy that was made before rebuilds its own, in O(n), at
  /// its next lookup.
  /// - Throws: `changesDoNotFit` if they are not changes of this snapshot.
  @inlinable
  public mutating func apply(_ changes: ListChanges<ItemID, Section>) throws(DiffableSnapshotError) {
    var index = moveIndex()
    // Only needed to check that inserted items are not in the snapshot yet.
    if !changes.insertions.isEmpty { _ = gather(&index) }
    do throws(DiffableSnapshotError) { sections = try changed(by: changes, index) } catch {
      setIndex(index)
      throw error
    }
    for deletion in changes.sectionDeletions { slots.remove(deletion.section) }
    for position in sections.indices {
      if sections[position].slot < 0 {
        sections[position].slot = slots.add(sections[position].id, at: position)
      } else {
        slots.set(sections[position].slot, to: position)
      }
    }
    assert(slots.slots.count == sections.count, "every section has a slot of its own")
    marks = SnapshotMarks()
    if index.isFilled {
      for deletion in changes.deletions { index.positions[deletion.id] = nil }
      for change in changes.insertions { index.positions[change.id] = itemPosition(change.to) }
      for move in changes.moves { index.positions[move.id] = itemPosition(move.to) }
    } else if index.members != nil {
      for deletion in changes.deletions { index.members?.remove(deletion.id) }
      for change in changes.insertions { index.members?.insert(change.id) }
    }
    setIndex(index)
  }

  @inlinable
  func itemPosition(_ index: ListIndex) -> ItemPosition {
    ItemPosition(slot: Int32(sections[index.section].slot), call: 0, item: index.item)
  }

  /// The sections after the changes. Inserted ones have no slot.
  @inlinable
  func changed(
    by changes: ListChanges<ItemID, Section>, _ index: borrowing ItemIndex<ItemID>
  ) throws(DiffableSnapshotError) -> [Content] {
    var taken = sections
    try takeItems(changes, &taken)
    var result = try movingSections(changes, taken)
    try putItems(changes, index, &result)
    func newItem(_ index: ListIndex) -> ItemID? {
      guard result.indices.contains(index.section), result[index.section].items.indices.contains(index.item)
      else { return nil }
      return result[index.section].items[index.item]
    }
    for update in changes.updates {
      try require(item(at: update.from) == update.id, "\(update.id) is not at \(update.from)")
      try require(newItem(update.to) == update.id, "\(update.id) is not at \(update.to)")
    }
    for update in changes.sectionUpdates {
      let (section, from, to) = (update.section, update.from, update.to)
      try require(self.section(at: from) == section, "the section \(section) is not at \(from)")
      try require(
        result.indices.contains(to) && result[to].id == section,
        "the section \(section) is not at \(to)")
    }
    return result
  }

  @inlinable
  func require(
    _ holds: Bool, _ what: @autoclosure () -> String
  ) throws(DiffableSnapshotError) {
    if !holds { throw .changesDoNotFit(what()) }
  }

  /// Removes deleted and moved items.
  @inlinable
  func takeItems(
    _ changes: ListChanges<ItemID, Section>, _ contents: inout [Content]
  ) throws(DiffableSnapshotError) {
    var removed: [ListIndex] = []
    removed.reserveCapacity(changes.deletions.count + changes.moves.count)
    for deletion in changes.deletions {
      try require(
        item(at: deletion.from) == deletion.id, "\(deletion.id) is not at \(deletion.from)")
      removed.append(deletion.from)
    }
    for move in changes.moves {
      try require(item(at: move.from) == move.id, "\(move.id) is not at \(move.from)")
      removed.append(move.from)
    }
    removed.sort()
    for (a, b) in zip(removed, removed.dropFirst()) { try require(a != b, "\(a) is removed twice") }
    var rest = removed[...]
    while let section = rest.first?.section {
      let part = rest.prefix { $0.section == section }
      rest = rest.dropFirst(part.count)
      contents[section].items.remove(atSorted: part.map { $0.item })
    }
  }

  /// Removes deleted and moved sections, and inserts inserted and moved ones.
  @inlinable
  func movingSections(
    _ changes: ListChanges<ItemID, Section>, _ contents: [Content]
  ) throws(DiffableSnapshotError) -> [Content] {
    var isRemoved = [Bool](repeating: false, count: contents.count)
    var incoming: [(to: Int, thing: Content)] = []
    for deletion in changes.sectionDeletions {
      let (section, from) = (deletion.section, deletion.from)
      try require(self.section(at: from) == section, "the section \(section) is not at \(from)")
      try require(!isRemoved[from], "the section \(section) is removed twice")
      try require(contents[from].items.isEmpty, "the section \(section) is deleted with items in it")
      isRemoved[from] = true
    }
    for move in changes.sectionMoves {
      let (section, from) = (move.section, move.from)
      try require(self.section(at: from) == section, "the section \(section) is not at \(from)")
      try require(!isRemoved[from], "the section \(section) is removed twice")
      isRemoved[from] = true
      incoming.append((move.to, contents[from]))
    }
    var inserted: Set<Section> = []
    // Values that Swift calls equal may be two sections: one goes as the other comes.
    lazy var gone = Set(changes.sectionDeletions.lazy.map(\.section))
    for insertion in changes.sectionInsertions {
      let section = insertion.section
      let isNew = slots.position(of: section) == nil || gone.contains(section)
      try require(
        isNew && inserted.insert(section).inserted,
        "the section \(section) is inserted, but the snapshot already has it")
      incoming.append((insertion.to, Content(id: section, items: [], slot: -1)))
    }
    if incoming.isEmpty, !isRemoved.contains(true) { return contents }
    let staying = contents.indices.filter { !isRemoved[$0] }.map { contents[$0] }
    guard let merged = merge(staying, incoming.sorted { $0.to < $1.to }) else {
      throw .changesDoNotFit("a section is inserted where another one is, or past the end")
    }
    return merged
  }

  /// Inserts inserted and moved items.
  @inlinable
  func putItems(
    _ changes: ListChanges<ItemID, Section>, _ index: borrowing ItemIndex<ItemID>,
    _ contents: inout [Content]
  ) throws(DiffableSnapshotError) {
    var incoming: [(to: ListIndex, id: ItemID)] = []
    incoming.reserveCapacity(changes.insertions.count + changes.moves.count)
    var inserted: Set<ItemID> = []
    lazy var gone = Set(changes.deletions.lazy.map(\.id))
    for insertion in changes.insertions {
      let isNew = !index.contains(insertion.id) || gone.contains(insertion.id)
      try require(
        isNew && inserted.insert(insertion.id).inserted,
        "\(insertion.id) is inserted, but the snapshot already has it")
      incoming.append((insertion.to, insertion.id))
    }
    for move in changes.moves { incoming.append((move.to, move.id)) }
    incoming.sort { $0.to < $1.to }
    var rest = incoming[...]
    while let section = rest.first?.to.section {
      let part = rest.prefix { $0.to.section == section }
      rest = rest.dropFirst(part.count)
      try require(contents.indices.contains(section), "there is no section \(section) to insert the items in")
      guard let merged = merge(contents[section].items, part.map { ($0.to.item, $0.id) }) else {
        throw .changesDoNotFit(
          "section \(section): an item is inserted where another one is, or past the end")
      }
      contents[section].items = merged
    }
  }
}

/// Inserts elements between others, at the ascending indices that they have in the result. Returns nil if two of them
/// have the same index, or if an index is past the end.
@inlinable
func merge<Thing>(_ things: [Thing], _ incoming: [(to: Int, thing: Thing)]) -> [Thing]? {
  var merged: [Thing] = []
  merged.reserveCapacity(things.count + incoming.count)
  var next = 0
  for (to, thing) in incoming {
    guard to >= merged.count, to - merged.count <= things.count - next else { return nil }
    let gap = to - merged.count
    merged += things[next..<next + gap]
    next += gap
    merged.append(thing)
  }
  merged += things[next...]
  return merged
}
