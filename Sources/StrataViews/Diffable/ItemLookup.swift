// The positions of a snapshot's items: found at the first lookup, shared by copies, and kept up to date by changes.

internal import StrataBase
public import StrataLists

/// The position of an item.
@usableFromInline @frozen
struct ItemPosition: Sendable {
  /// The slot of its section. Always current.
  @usableFromInline var slot: Int32
  /// The number of the call that put the item there, which detects an item that occurs twice in one call.
  @usableFromInline var call: UInt32
  /// The last known index in the section. Items before it may have been added or removed since.
  @usableFromInline var item: Int

  @inlinable init(slot: Int32, call: UInt32, item: Int) {
    self.slot = slot
    self.call = call
    self.item = item
  }
}

/// What is known about the items of a snapshot: nothing, which items it has, or where each of them is.
///
/// A snapshot that is only appended to needs the set of its items, to reject duplicates. The set costs a third of the
/// dictionary of positions, which is created at the first lookup of a position.
@usableFromInline @frozen
struct ItemIndex<ItemID: Hashable & Sendable>: Sendable {
  /// The position of each item if `isFilled`; otherwise empty.
  @usableFromInline var positions: [ItemID: ItemPosition] = [:]
  /// Whether `positions` holds the items.
  @usableFromInline var isFilled: Bool
  /// All items, if they are known and `positions` is not filled; otherwise nil.
  @usableFromInline var members: Set<ItemID>?
  /// Counts the calls that inserted or moved items.
  @usableFromInline var call: UInt32 = 0
  /// The offset of each section's first item among all items; empty if it is not known.
  @usableFromInline var starts: [Int] = []

  @inlinable init(isFilled: Bool, members: Set<ItemID>? = nil) {
    self.isFilled = isFilled
    self.members = members
  }

  /// Whether an item is in the snapshot. Requires that the items or their positions are known.
  @inlinable func contains(_ item: ItemID) -> Bool {
    isFilled ? positions[item] != nil : members?.contains(item) == true
  }
}

/// The box that holds an index. A reader fills the index under the lock; a writer whose box is shared creates a new
/// box.
@usableFromInline
final class ItemLookup<ItemID: Hashable & Sendable>: Sendable {
  private let index: Lock<ItemIndex<ItemID>>

  @usableFromInline init(_ index: ItemIndex<ItemID>) { self.index = Lock(index) }

  @usableFromInline
  func withIndex<Result>(_ body: (inout ItemIndex<ItemID>) -> Result) -> Result { index.withLock(body) }
}

extension DiffableSnapshot {
  /// Finds the positions of all items, unless they are known. O(n), one hash for each item.
  @inlinable
  func fill(_ index: inout ItemIndex<ItemID>) {
    if index.isFilled { return }
    index.positions.reserveCapacity(sections.reduce(0) { $0 + $1.items.count })
    for content in sections {
      for (position, item) in content.items.enumerated() {
        let new = ItemPosition(slot: Int32(content.slot), call: 0, item: position)
        let old = index.positions.updateValue(new, forKey: item)
        assert(old == nil, "an item is in a snapshot once")
      }
    }
    index.isFilled = true
    index.members = nil
  }

  /// Finds the set of all items, unless it is known. O(n), one hash for each item.
  ///
  /// - Returns: the first item that equals an earlier one, preceded by that earlier one; nil if all are distinct. If
  ///   there are such items, the index is unchanged.
  @inlinable
  func gather(_ index: inout ItemIndex<ItemID>) -> (ItemID, ItemID)? {
    if index.isFilled || index.members != nil { return nil }
    var members = Set<ItemID>(minimumCapacity: sections.reduce(0) { $0 + $1.items.count })
    for content in sections {
      for item in content.items {
        let (isInserted, member) = members.insert(item)
        if !isInserted { return (member, item) }
      }
    }
    index.members = members
    return nil
  }

  /// How far from its last known index an item is searched for before its whole section is scanned. The distance is
  /// short for lookups, which have to stay O(1), and longer for changes, which shift items again.
  @inlinable static var searchDistanceMax: Int { 32 }
  @inlinable static var searchDistanceOfChangeMax: Int { 1_024 }

  /// The position of an item; nil if it is not in the snapshot. O(1), except for the first call after a change that
  /// shifted many items.
  @inlinable
  func locate(
    _ item: ItemID, _ index: inout ItemIndex<ItemID>, within distanceMax: Int = searchDistanceMax
  ) -> ListIndex? {
    fill(&index)
    guard let known = index.positions[item] else { return nil }
    let section = slots.order[Int(known.slot)]
    if let position = findNearby(item, known.item, section, within: distanceMax) {
      return ListIndex(section: section, item: position)
    }
    for (position, other) in sections[section].items.enumerated() { index.positions[other]?.item = position }
    return index.positions[item].map { ListIndex(section: section, item: $0.item) }
  }

  /// The index of an item that is near its last known index; nil if it is farther away.
  @inlinable
  func findNearby(_ item: ItemID, _ known: Int, _ section: Int, within distanceMax: Int) -> Int? {
    let items = sections[section].items
    if known < items.count, items[known] == item { return known }
    for distance in 1...max(1, min(distanceMax, max(known, items.count - known))) {
      let (before, after) = (known - distance, known + distance)
      if before >= 0, before < items.count, items[before] == item { return before }
      if after < items.count, items[after] == item { return after }
    }
    return nil
  }

  /// Takes the index out of its box to change it; `setIndex` puts it back. An index that is shared with copies is
  /// copied.
  @inlinable
  mutating func takeIndex() -> ItemIndex<ItemID> {
    guard isKnownUniquelyReferenced(&lookup) else {
      let index = lookup.withIndex { $0 }
      lookup = ItemLookup(ItemIndex(isFilled: true))
      return index
    }
    return lookup.withIndex { index in
      let taken = index
      index = ItemIndex(isFilled: true)
      return taken
    }
  }

  /// Takes the index out of its box even if it is shared with copies: they rebuild theirs at their next lookup.
  @inlinable
  mutating func moveIndex() -> ItemIndex<ItemID> {
    if isKnownUniquelyReferenced(&lookup) { return takeIndex() }
    let index = lookup.withIndex { index in
      let taken = index
      index = ItemIndex(isFilled: false)
      return taken
    }
    lookup = ItemLookup(ItemIndex(isFilled: true))
    return index
  }

  @inlinable
  mutating func setIndex(_ index: consuming ItemIndex<ItemID>) {
    // Any change may have shifted the first items of sections.
    index.starts = []
    let index = index
    lookup.withIndex { $0 = index }
  }
}
