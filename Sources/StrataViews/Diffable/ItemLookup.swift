// Where the items of a snapshot stand: made when it is first asked for, shared by copies, kept up by changes.

internal import StrataBase
internal import StrataLists

/// Where an item stands.
struct ItemPlace: Sendable {
  /// The slot of its section. It is always right.
  var slot: Int32
  /// The call that put it there, by which an item that is named twice in one call is found out.
  var call: UInt32
  /// Its place in the section when that was last looked at. Items before it may have come and gone since.
  var item: Int
}

/// The places of all items.
struct ItemIndex<ItemID: Hashable & Sendable>: Sendable {
  var places: [ItemID: ItemPlace] = [:]
  /// Whether `places` holds the items; before the first lookup it does not.
  var isFilled: Bool
  /// Counts the calls that put items somewhere.
  var call: UInt32 = 0
  /// The place of each section's first item among all items; empty where it is not known.
  var starts: [Int] = []
}

/// The box around an index. A reader fills it, under the lock; a writer whose box is shared gets its own.
final class ItemLookup<ItemID: Hashable & Sendable>: Sendable {
  private let index: Lock<ItemIndex<ItemID>>

  init(_ index: ItemIndex<ItemID> = ItemIndex(isFilled: true)) { self.index = Lock(index) }

  func withIndex<Result>(_ body: (inout ItemIndex<ItemID>) -> Result) -> Result { index.withLock(body) }
}

extension DiffableSnapshot {
  /// Finds all items, where that was not done before. O(n), one hash per item.
  func fill(_ index: inout ItemIndex<ItemID>) {
    if index.isFilled { return }
    let collision = fillUntilCollision(&index)
    assert(collision == nil, "an item stands in a snapshot twice")
  }

  /// Finds all items up to one that is equal to an earlier one, and returns these two.
  func fillUntilCollision(_ index: inout ItemIndex<ItemID>) -> (ItemID, ItemID)? {
    index.places.reserveCapacity(numberOfItems)
    for content in contents {
      for (place, item) in content.items.enumerated() {
        let new = ItemPlace(slot: Int32(content.slot), call: 0, item: place)
        guard let old = index.places.updateValue(new, forKey: item) else { continue }
        return (contents[slots.order[Int(old.slot)]].items[old.item], item)
      }
    }
    index.isFilled = true
    return nil
  }

  /// How far from where it was last seen an item is looked for before its whole section is looked at: near,
  /// so that lookups stay O(1); farther for a change, which shifts items again.
  static var searchedDistanceMax: Int { 32 }
  static var searchedDistanceOfChangeMax: Int { 1_024 }

  /// Where an item stands. O(1) but for the first call after a change that shifted many.
  func locate(
    _ item: ItemID, _ index: inout ItemIndex<ItemID>, within distanceMax: Int = searchedDistanceMax
  ) -> ListIndex? {
    fill(&index)
    guard let known = index.places[item] else { return nil }
    let section = slots.order[Int(known.slot)]
    if let place = findNearby(item, known.item, section, within: distanceMax) {
      return ListIndex(section: section, item: place)
    }
    for (place, other) in contents[section].items.enumerated() { index.places[other]?.item = place }
    return index.places[item].map { ListIndex(section: section, item: $0.item) }
  }

  /// The place of an item near to where it was; nil where it is farther away.
  func findNearby(_ item: ItemID, _ known: Int, _ section: Int, within distanceMax: Int) -> Int? {
    let items = contents[section].items
    if known < items.count, items[known] == item { return known }
    for distance in 1...max(1, min(distanceMax, max(known, items.count - known))) {
      let (before, behind) = (known - distance, known + distance)
      if before >= 0, before < items.count, items[before] == item { return before }
      if behind < items.count, items[behind] == item { return behind }
    }
    return nil
  }

  /// Takes the index out, to change it; `setIndex` puts it back. What other copies share is copied.
  mutating func takeIndex() -> ItemIndex<ItemID> {
    guard isKnownUniquelyReferenced(&lookup) else {
      let index = lookup.withIndex { $0 }
      lookup = ItemLookup()
      return index
    }
    return lookup.withIndex { index in
      let taken = index
      index = ItemIndex(isFilled: true)
      return taken
    }
  }

  /// Takes the index out also where other copies share it: they find their items anew when they are asked for one.
  mutating func moveIndex() -> ItemIndex<ItemID> {
    if isKnownUniquelyReferenced(&lookup) { return takeIndex() }
    let index = lookup.withIndex { index in
      let taken = index
      index = ItemIndex(isFilled: false)
      return taken
    }
    lookup = ItemLookup()
    return index
  }

  mutating func setIndex(_ index: consuming ItemIndex<ItemID>) {
    // Whatever was changed, sections may begin elsewhere now.
    index.starts = []
    let index = index
    lookup.withIndex { $0 = index }
  }
}
