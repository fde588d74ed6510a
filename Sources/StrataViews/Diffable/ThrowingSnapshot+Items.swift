// Adding items to a snapshot, removing them, and moving them.

public import StrataLists

extension ThrowingSnapshot {
  /// Appends items to a section, by default the last one. An item that the snapshot has already is moved.
  ///
  /// O(items), and O(n) once for the first item that is moved.
  /// - Throws: `noSections`, `unknownSection`, `duplicateItem`.
  @inlinable
  public mutating func appendItems(
    _ items: [ItemID], toSection section: Section? = nil
  ) throws(DiffableSnapshotError) {
    let place: Int
    if let section {
      place = try self.place(ofSection: section)
    } else {
      guard let last = contents.indices.last else { throw .noSections }
      place = last
    }
    // Before the call, which would otherwise find the section held by its own argument, and copy it.
    let end = contents[place].items.count
    try put(items, section: place, at: end)
  }

  /// Inserts items directly before another one, in their order. An item that the snapshot has already is moved; if the
  /// other item is one of them, it counts as removed like the rest.
  /// - Throws: `unknownItem`, `duplicateItem`.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], beforeItem other: ItemID) throws(DiffableSnapshotError)
  {
    let place = try self.place(of: other)
    try put(items, section: place.section, at: place.item)
  }

  /// Inserts items directly after another one, in their order. See ``insertItems(_:beforeItem:)``.
  /// - Throws: `unknownItem`, `duplicateItem`.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], afterItem other: ItemID) throws(DiffableSnapshotError) {
    let place = try self.place(of: other)
    try put(items, section: place.section, at: place.item + 1)
  }

  /// Moves an item directly before another one, of the same section or not. Moving it before itself does nothing.
  /// - Throws: `unknownItem`.
  @inlinable
  public mutating func moveItem(_ item: ItemID, beforeItem other: ItemID) throws(DiffableSnapshotError) {
    _ = try place(of: item)
    try insertItems([item], beforeItem: other)
  }

  /// Moves an item directly after another one, of the same section or not. Moving it after itself does nothing.
  /// - Throws: `unknownItem`.
  @inlinable
  public mutating func moveItem(_ item: ItemID, afterItem other: ItemID) throws(DiffableSnapshotError) {
    _ = try place(of: item)
    try insertItems([item], afterItem: other)
  }

  /// Makes these the items of a section. Items that it had and that are not among them are deleted; items of other
  /// sections are moved.
  /// - Throws: `unknownSection`, `duplicateItem`.
  @inlinable
  public mutating func replaceItems(in section: Section, with items: [ItemID]) throws(DiffableSnapshotError) {
    let place = try self.place(ofSection: section)
    let end = contents[place].items.count
    try put(items, section: place, at: end)
    // What the section had and is not named again is before the new ones.
    delete(Array(contents[place].items.dropLast(items.count)))
  }

  /// Deletes items with their marks. Unknown ones are ignored. O(items + the sections that they are in).
  @inlinable
  mutating func delete(_ items: [ItemID]) {
    if items.isEmpty { return }
    var index = takeIndex()
    fill(&index)
    var deleted: [(item: ItemID, place: ItemPlace)] = []
    for item in items {
      guard let place = index.places.removeValue(forKey: item) else { continue }
      deleted.append((item, place))
      marks.remove(item: item)
    }
    _ = remove(deleted, before: nil)
    setIndex(index)
  }

  /// Puts items at an index of a section, counted before any of them is removed from where it was.
  @inlinable
  mutating func put(_ items: [ItemID], section: Int, at place: Int) throws(DiffableSnapshotError) {
    if items.isEmpty { return }
    var index = takeIndex()
    if add(items, to: &index) {
      contents[section].insert(items, at: place)
      setIndex(index)
      return
    }
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
    let place = moved.isEmpty ? place : remove(moved, before: (section, place))
    contents[section].insert(items, at: place)
    setIndex(index)
  }

  /// Adds items to an index that knows which items there are, and not where.
  ///
  /// - Returns: false where the index knows more, or an item is there already; the index is then as it was.
  @inlinable
  func add(_ items: [ItemID], to index: inout ItemIndex<ItemID>) -> Bool {
    guard !index.isFilled, var members = index.members.take() else { return false }
    members.reserveCapacity(members.count + items.count)
    for (number, item) in items.enumerated() where !members.insert(item).inserted {
      for item in items[..<number] { members.remove(item) }
      index.members = members
      return false
    }
    index.members = members
    return true
  }

  /// Removes items from their sections. The index stays as it is.
  ///
  /// - Parameter target: an index in a section.
  /// - Returns: where that index is then.
  @inlinable
  mutating func remove(
    _ items: [(item: ItemID, place: ItemPlace)], before target: (section: Int, place: Int)?
  ) -> Int {
    var place = target?.place ?? 0
    var rest = items.sorted { $0.place.slot < $1.place.slot }[...]
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

  /// The indices of items of one section, ascending.
  @inlinable
  func places(of part: ArraySlice<(item: ItemID, place: ItemPlace)>, _ section: Int) -> [Int] {
    let distanceMax = part.count <= Self.singleSearchesMax ? .max : Self.searchDistanceMax
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

  /// Up to that many items are searched for one by one, however far they were shifted.
  @inlinable static var singleSearchesMax: Int { 16 }
}

extension Array {
  /// Removes the elements at some indices, given in ascending order. O(count).
  @inlinable
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
