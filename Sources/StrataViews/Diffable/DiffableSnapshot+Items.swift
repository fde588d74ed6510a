// Putting items into a snapshot, taking them out, and moving them: the forms that throw.

internal import StrataLists

extension DiffableSnapshot {
  /// Appends items to a section, by default the last one. Items that are there already are moved.
  ///
  /// O(items), and O(n) once for the first change.
  /// - Throws: `noSections`, `unknownSection`, `duplicateItem`.
  public mutating func tryAppendItems(
    _ items: [ItemID], toSection section: SectionID? = nil
  ) throws(DiffableSnapshotError) {
    let place = try placeToAppend(section)
    // Before the call, which would otherwise find the section held by its own argument, and copy it.
    let end = contents[place].items.count
    try put(items, section: place, at: end)
  }

  private func placeToAppend(_ section: SectionID?) throws(DiffableSnapshotError) -> Int {
    guard let section else {
      guard let last = contents.indices.last else { throw .noSections }
      return last
    }
    guard let place = slots.place(of: section) else { throw .unknownSection("\(section)") }
    return place
  }

  /// Puts items directly before another one, in their order. Items that are there already are moved; where the
  /// other one is among them, it counts as taken out like the rest.
  /// - Throws: `unknownItem`, `duplicateItem`.
  public mutating func tryInsertItems(
    _ items: [ItemID], beforeItem other: ItemID
  ) throws(DiffableSnapshotError) {
    let place = try place(of: other)
    try put(items, section: place.section, at: place.item)
  }

  /// Puts items directly behind another one, in their order. See ``tryInsertItems(_:beforeItem:)``.
  /// - Throws: `unknownItem`, `duplicateItem`.
  public mutating func tryInsertItems(
    _ items: [ItemID], afterItem other: ItemID
  ) throws(DiffableSnapshotError) {
    let place = try place(of: other)
    try put(items, section: place.section, at: place.item + 1)
  }

  /// Moves an item directly before another one, of the same section or not. To move it before itself does
  /// nothing.
  /// - Throws: `unknownItem`.
  public mutating func tryMoveItem(_ item: ItemID, beforeItem other: ItemID) throws(DiffableSnapshotError) {
    _ = try place(of: item)
    try tryInsertItems([item], beforeItem: other)
  }

  /// Moves an item directly behind another one, of the same section or not. To move it behind itself does
  /// nothing.
  /// - Throws: `unknownItem`.
  public mutating func tryMoveItem(_ item: ItemID, afterItem other: ItemID) throws(DiffableSnapshotError) {
    _ = try place(of: item)
    try tryInsertItems([item], afterItem: other)
  }

  /// Makes these the items of a section. What it held and is not among them is deleted, and what another
  /// section holds is moved.
  /// - Throws: `unknownSection`, `duplicateItem`.
  public mutating func tryReplaceItems(
    in section: SectionID, with items: [ItemID]
  ) throws(DiffableSnapshotError) {
    guard let place = slots.place(of: section) else { throw .unknownSection("\(section)") }
    // Before the call, which would otherwise find the section held by its own argument, and copy it.
    let end = contents[place].items.count
    try put(items, section: place, at: end)
    // What was there and is not named again stands before the new ones.
    deleteItems(Array(contents[place].items.dropLast(items.count)))
  }

  /// Deletes items, with their marks. What is not there is ignored. O(items + the sections they stand in).
  public mutating func deleteItems(_ items: [ItemID]) {
    if items.isEmpty { return }
    var index = takeIndex()
    fill(&index)
    var gone: [(item: ItemID, place: ItemPlace)] = []
    for item in items {
      guard let place = index.places.removeValue(forKey: item) else { continue }
      gone.append((item, place))
      marks.remove(item: item)
    }
    _ = takeOut(gone, before: nil)
    setIndex(index)
  }

  /// Deletes all items that the closure accepts; where it throws, none.
  public mutating func removeItems<Failure: Error>(
    where isGone: (ItemID) throws(Failure) -> Bool
  ) throws(Failure) {
    var gone: [ItemID] = []
    for content in contents {
      for item in content.items where try isGone(item) { gone.append(item) }
    }
    deleteItems(gone)
  }

  /// Deletes all items, and keeps the sections.
  public mutating func deleteAllItems() {
    for place in contents.indices { contents[place].items = [] }
    marks.removeItems()
    lookup = ItemLookup()
  }
}

extension DiffableSnapshot {
  func place(of item: ItemID) throws(DiffableSnapshotError) -> ListIndex {
    let place = lookup.withIndex { locate(item, &$0, within: Self.searchedDistanceOfChangeMax) }
    guard let place else { throw .unknownItem("\(item)") }
    return place
  }

  /// Puts items at a place of a section, counted before any of them is taken out of where it stands.
  private mutating func put(
    _ items: [ItemID], section: Int, at place: Int
  ) throws(DiffableSnapshotError) {
    if items.isEmpty { return }
    var index = takeIndex()
    fill(&index)
    index.call &+= 1
    let slot = Int32(contents[section].slot)
    var moved: [(item: ItemID, place: ItemPlace)] = []
    index.places.reserveCapacity(index.places.count + items.count)
    for (number, item) in items.enumerated() {
      let new = ItemPlace(slot: slot, call: index.call, item: place + number)
      guard let old = index.places.updateValue(new, forKey: item) else { continue }
      if old.call == index.call {
        for item in items[..<number] { index.places[item] = nil }
        for (item, place) in moved { index.places[item] = place }
        setIndex(index)
        throw .duplicateItem("\(item)")
      }
      moved.append((item, old))
    }
    let place = moved.isEmpty ? place : takeOut(moved, before: (section, place))
    contents[section].insert(items, at: place)
    setIndex(index)
  }

  /// Takes items out of their sections, and leaves the index alone.
  ///
  /// - Parameter target: a place in a section.
  /// - Returns: where that place is then.
  private mutating func takeOut(
    _ gone: [(item: ItemID, place: ItemPlace)], before target: (section: Int, place: Int)?
  ) -> Int {
    var place = target?.place ?? 0
    var rest = gone.sorted { $0.place.slot < $1.place.slot }[...]
    while let slot = rest.first?.place.slot {
      let part = rest.prefix { $0.place.slot == slot }
      rest = rest.dropFirst(part.count)
      let section = slots.order[Int(slot)]
      let places = places(of: part, section)
      contents[section].items.remove(atSorted: places)
      guard section == target?.section else { continue }
      let countBefore = places.prefix { $0 < place }.count
      place -= countBefore
    }
    return place
  }

  /// The places of items of one section, ascending.
  private func places(of part: ArraySlice<(item: ItemID, place: ItemPlace)>, _ section: Int) -> [Int] {
    let distanceMax = part.count <= Self.soughtCountMax ? .max : Self.searchedDistanceMax
    var places: [Int] = []
    places.reserveCapacity(part.count)
    for (item, place) in part {
      guard let place = findNearby(item, place.item, section, within: distanceMax) else {
        let items = Set(part.map { $0.item })
        return contents[section].items.indices.filter { items.contains(contents[section].items[$0]) }
      }
      places.append(place)
    }
    return places.sorted()
  }

  /// Up to so many items are sought one by one, however far they were shifted.
  private static var soughtCountMax: Int { 16 }
}

extension Array {
  /// Removes what stands at some places, given in ascending order. O(count).
  mutating func remove(atSorted places: [Int]) {
    guard let first = places.first else { return }
    if places.count == 1 {
      remove(at: first)
      return
    }
    var rest = places[...]
    var end = first
    for place in first..<count {
      if rest.first == place {
        rest.removeFirst()
      } else {
        swapAt(end, place)
        end += 1
      }
    }
    removeLast(count - end)
  }
}
