// Adding, removing and moving items of a snapshot.

public import StrataLists

extension DiffableSnapshot {
  /// Appends items to a section, by default the last one. Items that the snapshot already has are moved.
  ///
  /// O(items), and O(n) once for the first item that is moved. The section must be in the snapshot, and no item may
  /// occur twice in `items`.
  @inlinable
  public mutating func appendItems(_ items: [ItemID], toSection section: Section? = nil) {
    do throws(DiffableSnapshotError) {
      let position = try sectionToAppend(in: section)
      // Read before the call: its argument would otherwise retain the section, and the call would copy it.
      let end = sections[position].items.count
      try put(items, section: position, at: end)
    } catch { fail(error) }
  }

  /// Inserts items directly before another one, in their order. Items that the snapshot already has are moved.
  ///
  /// `other` may be one of the items: all of them are removed first, and inserted where `other` was. It must be in the
  /// snapshot, and no item may occur twice in `items`.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], beforeItem other: ItemID) {
    put(items, nextTo: other, 0)
  }

  /// Inserts items directly after another one, in their order. See ``insertItems(_:beforeItem:)``.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], afterItem other: ItemID) {
    put(items, nextTo: other, 1)
  }

  /// Moves an item directly before another one, in the same section or in another one. Moving an item before itself
  /// does nothing. Both must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, beforeItem other: ItemID) {
    put([item], nextTo: other, 0, areKnown: true)
  }

  /// Moves an item directly after another one, in the same section or in another one. Moving an item after itself does
  /// nothing. Both must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, afterItem other: ItemID) {
    put([item], nextTo: other, 1, areKnown: true)
  }

  /// Replaces the items of a section. Its previous items that are not among the new ones are deleted; items of other
  /// sections are moved. The section must be in the snapshot, and no item may occur twice in `items`.
  @inlinable
  public mutating func replaceItems(in section: Section, with items: [ItemID]) {
    do throws(DiffableSnapshotError) {
      let position = try self.position(ofSection: section)
      let end = sections[position].items.count
      try put(items, section: position, at: end)
      // Previous items that are not among the new ones are before these.
      deleteItems(Array(sections[position].items.dropLast(items.count)))
    } catch { fail(error) }
  }

  /// Deletes items and their marks. Unknown items are ignored. O(items + the sections that they are in).
  @inlinable
  public mutating func deleteItems(_ items: [ItemID]) {
    if items.isEmpty { return }
    var index = takeIndex()
    fill(&index)
    var deleted: [(item: ItemID, position: ItemPosition)] = []
    for item in items {
      guard let position = index.positions.removeValue(forKey: item) else { continue }
      deleted.append((item, position))
      marks.remove(item: item)
    }
    _ = remove(deleted, before: nil)
    setIndex(index)
  }

  /// Deletes all items for which the closure returns true. If it throws, no item is deleted.
  @inlinable
  public mutating func removeItems<Failure: Error>(
    where isRemoved: (ItemID) throws(Failure) -> Bool
  ) throws(Failure) {
    var removed: [ItemID] = []
    for content in sections {
      for item in content.items where try isRemoved(item) { removed.append(item) }
    }
    deleteItems(removed)
  }

  /// Deletes all items. The sections stay.
  @inlinable
  public mutating func deleteAllItems() {
    for position in sections.indices { sections[position].items = [] }
    marks.removeItems()
    lookup = ItemLookup(ItemIndex(isFilled: false, members: []))
  }
}

// MARK: Positions

extension DiffableSnapshot {
  @inlinable
  func sectionToAppend(in section: Section?) throws(DiffableSnapshotError) -> Int {
    if let section { return try position(ofSection: section) }
    guard let last = sections.indices.last else { throw .noSections }
    return last
  }

  /// Inserts or moves items next to another one.
  ///
  /// - Parameters:
  ///   - distance: 0 before the other item, 1 after it.
  ///   - areKnown: whether the items have to be in the snapshot.
  @inlinable
  mutating func put(_ items: [ItemID], nextTo other: ItemID, _ distance: Int, areKnown: Bool = false) {
    do throws(DiffableSnapshotError) {
      if areKnown { for item in items { _ = try position(of: item) } }
      let position = try self.position(of: other)
      assert(
        sections[position.section].items[position.item] == other, "the index of items knows where each is")
      try put(items, section: position.section, at: position.item + distance)
    } catch { fail(error) }
  }

  /// Inserts or moves items to an index of a section. The index counts before any of the items is removed from its
  /// previous position.
  @inlinable
  mutating func put(_ items: [ItemID], section: Int, at position: Int) throws(DiffableSnapshotError) {
    if items.isEmpty { return }
    var index = takeIndex()
    if add(items, to: &index) {
      sections[section].insert(items, at: position)
      setIndex(index)
      return
    }
    fill(&index)
    index.call &+= 1
    let slot = Int32(sections[section].slot)
    var moved: [(item: ItemID, position: ItemPosition)] = []
    index.positions.reserveCapacity(index.positions.count + items.count)
    for (number, item) in items.enumerated() {
      let new = ItemPosition(slot: slot, call: index.call, item: position + number)
      guard let old = index.positions.updateValue(new, forKey: item) else { continue }
      if old.call == index.call {
        // It has positions of this call. The right ones are found again at the next lookup.
        setIndex(ItemIndex(isFilled: false))
        throw .duplicateItem("\(item)")
      }
      moved.append((item, old))
    }
    let position = moved.isEmpty ? position : remove(moved, before: (section, position))
    sections[section].insert(items, at: position)
    setIndex(index)
  }

  /// Adds items to an index that holds the set of items but not their positions.
  ///
  /// - Returns: false if the index does not hold just the set, or if the set already has one of the items. Such an index
  ///   has to be filled: its set is gone.
  @inlinable
  func add(_ items: [ItemID], to index: inout ItemIndex<ItemID>) -> Bool {
    guard !index.isFilled, var members = index.members.take() else { return false }
    members.reserveCapacity(members.count + items.count)
    for item in items where !members.insert(item).inserted { return false }
    index.members = members
    return true
  }

  /// Removes items from their sections. Does not change the index of items.
  ///
  /// - Parameter target: an index in a section.
  /// - Returns: that index after the removal.
  @inlinable
  mutating func remove(
    _ items: [(item: ItemID, position: ItemPosition)], before target: (section: Int, position: Int)?
  ) -> Int {
    var position = target?.position ?? 0
    var rest = items.sorted { $0.position.slot < $1.position.slot }[...]
    while let slot = rest.first?.position.slot {
      let part = rest.prefix { $0.position.slot == slot }
      rest = rest.dropFirst(part.count)
      let section = slots.order[Int(slot)]
      let positions = positions(of: part, section)
      sections[section].items.remove(atSorted: positions)
      guard section == target?.section else { continue }
      let countBefore = positions.prefix { $0 < position }.count
      position -= countBefore
    }
    return position
  }

  /// The indices of items of one section, ascending.
  @inlinable
  func positions(of part: ArraySlice<(item: ItemID, position: ItemPosition)>, _ section: Int) -> [Int] {
    let distanceMax = part.count <= Self.singleSearchesMax ? .max : Self.searchDistanceMax
    var positions: [Int] = []
    positions.reserveCapacity(part.count)
    for (item, position) in part {
      guard let position = findNearby(item, position.item, section, within: distanceMax) else {
        let items = Set(part.map { $0.item })
        return sections[section].items.indices.filter { items.contains(sections[section].items[$0]) }
      }
      positions.append(position)
    }
    return positions.sorted()
  }

  /// The greatest number of items that are searched for one by one, however far they were shifted.
  @inlinable static var singleSearchesMax: Int { 16 }
}

extension Array {
  /// Removes the elements at some indices, given in ascending order. O(count).
  @inlinable
  mutating func remove(atSorted positions: [Int]) {
    guard let first = positions.first else { return }
    if positions.count == 1 {
      remove(at: first)
      return
    }
    var rest = positions[...]
    var end = first
    for position in first..<count {
      if rest.first == position {
        rest.removeFirst()
      } else {
        swapAt(end, position)
        end += 1
      }
    }
    removeLast(count - end)
  }
}
