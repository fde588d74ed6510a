// The snapshot that a batch makes of another one.

public import StrataLists

extension DiffableSnapshot {
  /// The snapshot after changes, without marks. What is inserted is in the batch by its identifier, so that
  /// for all a and b `a.applying(ListChanges(from: a, to: b)) == b`.
  ///
  /// What ``apply(_:)`` costs, and O(n) more for a copy of where items stand.
  /// - Throws: `changesDoNotFit` where they are not changes of this snapshot.
  public func applying(_ changes: ListChanges<ItemID, SectionID>) throws(DiffableSnapshotError) -> Self {
    var result = self
    try result.replace(applying: changes, index: result.takeIndex())
    return result
  }

  /// Makes the snapshot what it is after changes, without marks; where it throws, nothing.
  ///
  /// O(changes + sections + items of the sections that change), and O(n) where something is put in and no item was
  /// looked up before. What is known of where items stand goes along: a copy that was made before finds its items
  /// anew, in O(n), when it is asked for one.
  /// - Throws: `changesDoNotFit` where they are not changes of this snapshot.
  public mutating func apply(_ changes: ListChanges<ItemID, SectionID>) throws(DiffableSnapshotError) {
    try replace(applying: changes, index: moveIndex())
  }

  /// - Parameter index: this snapshot's, taken out of it.
  private mutating func replace(
    applying changes: ListChanges<ItemID, SectionID>, index: consuming ItemIndex<ItemID>
  ) throws(DiffableSnapshotError) {
    var index = index
    // Only to see that what is put in was not there.
    if !changes.insertions.isEmpty { fill(&index) }
    do throws(DiffableSnapshotError) { contents = try changed(by: changes, index) } catch {
      setIndex(index)
      throw error
    }
    for deletion in changes.sectionDeletions { slots.remove(deletion.section) }
    for place in contents.indices {
      if contents[place].slot < 0 {
        contents[place].slot = slots.add(contents[place].id, at: place)
      } else {
        slots.set(contents[place].slot, to: place)
      }
    }
    marks = SnapshotMarks()
    if index.isFilled {
      for deletion in changes.deletions { index.places[deletion.id] = nil }
      for change in changes.insertions { index.places[change.id] = itemPlace(change.to) }
      for move in changes.moves { index.places[move.id] = itemPlace(move.to) }
    }
    setIndex(index)
  }

  private func itemPlace(_ index: ListIndex) -> ItemPlace {
    ItemPlace(slot: Int32(contents[index.section].slot), call: 0, item: index.item)
  }

  /// The sections after changes; what is inserted has no slot.
  private func changed(
    by changes: ListChanges<ItemID, SectionID>, _ index: borrowing ItemIndex<ItemID>
  ) throws(DiffableSnapshotError) -> [Content] {
    var taken = contents
    try takeItems(changes, &taken)
    var result = try movingSections(changes, taken)
    try putItems(changes, index, &result)
    func item(_ index: ListIndex) -> ItemID? {
      guard result.indices.contains(index.section), result[index.section].items.indices.contains(index.item)
      else { return nil }
      return result[index.section].items[index.item]
    }
    for update in changes.updates {
      try require(itemIdentifier(at: update.from) == update.id, "\(update.id) is not at \(update.from)")
      try require(item(update.to) == update.id, "\(update.id) does not come to \(update.to)")
    }
    for update in changes.sectionUpdates {
      let (section, from, to) = (update.section, update.from, update.to)
      try require(sectionIdentifier(at: from) == section, "the section \(section) is not at \(from)")
      try require(
        result.indices.contains(to) && result[to].id == section,
        "the section \(section) does not come to \(to)")
    }
    return result
  }

  private func require(
    _ holds: Bool, _ what: @autoclosure () -> String
  ) throws(DiffableSnapshotError) {
    if !holds { throw .changesDoNotFit(what()) }
  }

  /// Takes deleted and moved items out.
  private func takeItems(
    _ changes: ListChanges<ItemID, SectionID>, _ contents: inout [Content]
  ) throws(DiffableSnapshotError) {
    var gone: [ListIndex] = []
    gone.reserveCapacity(changes.deletions.count + changes.moves.count)
    for deletion in changes.deletions {
      try require(
        itemIdentifier(at: deletion.from) == deletion.id, "\(deletion.id) is not at \(deletion.from)")
      gone.append(deletion.from)
    }
    for move in changes.moves {
      try require(itemIdentifier(at: move.from) == move.id, "\(move.id) is not at \(move.from)")
      gone.append(move.from)
    }
    gone.sort()
    for (a, b) in zip(gone, gone.dropFirst()) { try require(a != b, "\(a) is taken out twice") }
    var rest = gone[...]
    while let section = rest.first?.section {
      let part = rest.prefix { $0.section == section }
      rest = rest.dropFirst(part.count)
      contents[section].items.remove(atSorted: part.map { $0.item })
    }
  }

  /// Takes deleted and moved sections out, and puts inserted and moved ones in.
  private func movingSections(
    _ changes: ListChanges<ItemID, SectionID>, _ contents: [Content]
  ) throws(DiffableSnapshotError) -> [Content] {
    var isGone = [Bool](repeating: false, count: contents.count)
    var incoming: [(to: Int, thing: Content)] = []
    for deletion in changes.sectionDeletions {
      let (section, from) = (deletion.section, deletion.from)
      try require(sectionIdentifier(at: from) == section, "the section \(section) is not at \(from)")
      try require(!isGone[from], "the section \(section) is taken out twice")
      try require(contents[from].items.isEmpty, "the section \(section) is deleted with items in it")
      isGone[from] = true
    }
    for move in changes.sectionMoves {
      let (section, from) = (move.section, move.from)
      try require(sectionIdentifier(at: from) == section, "the section \(section) is not at \(from)")
      try require(!isGone[from], "the section \(section) is taken out twice")
      isGone[from] = true
      incoming.append((move.to, contents[from]))
    }
    var inserted: Set<SectionID> = []
    for insertion in changes.sectionInsertions {
      let section = insertion.section
      try require(
        !contains(section: section) && inserted.insert(section).inserted,
        "the section \(section) is put in, and is there already")
      incoming.append((insertion.to, Content(id: section, items: [], slot: -1)))
    }
    if incoming.isEmpty, !isGone.contains(true) { return contents }
    let staying = contents.indices.filter { !isGone[$0] }.map { contents[$0] }
    guard let merged = merge(staying, incoming.sorted { $0.to < $1.to }) else {
      throw .changesDoNotFit("a section is put in where another one is, or behind the end")
    }
    return merged
  }

  /// Puts inserted and moved items in.
  private func putItems(
    _ changes: ListChanges<ItemID, SectionID>, _ index: borrowing ItemIndex<ItemID>,
    _ contents: inout [Content]
  ) throws(DiffableSnapshotError) {
    var incoming: [(to: ListIndex, id: ItemID)] = []
    incoming.reserveCapacity(changes.insertions.count + changes.moves.count)
    var inserted: Set<ItemID> = []
    for insertion in changes.insertions {
      try require(
        index.places[insertion.id] == nil && inserted.insert(insertion.id).inserted,
        "\(insertion.id) is put in, and is there already")
      incoming.append((insertion.to, insertion.id))
    }
    for move in changes.moves { incoming.append((move.to, move.id)) }
    incoming.sort { $0.to < $1.to }
    var rest = incoming[...]
    while let section = rest.first?.to.section {
      let part = rest.prefix { $0.to.section == section }
      rest = rest.dropFirst(part.count)
      try require(contents.indices.contains(section), "there is no section \(section) to put items in")
      guard let merged = merge(contents[section].items, part.map { ($0.to.item, $0.id) }) else {
        throw .changesDoNotFit(
          "section \(section): an item is put in where another one is, or behind the end")
      }
      contents[section].items = merged
    }
  }
}

/// Things with others put in between, by the ascending places that these have in the result; nil where two
/// have the same place, or one a place behind the end.
private func merge<Thing>(_ things: [Thing], _ incoming: [(to: Int, thing: Thing)]) -> [Thing]? {
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
