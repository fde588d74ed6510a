// The sections of a snapshot by their identifiers.

/// The sections of a snapshot, and a number for each that stays the same when others are added or removed.
@usableFromInline @frozen
struct SectionSlots<Section: Hashable & Sendable>: Sendable {
  @usableFromInline var slots: [Section: Int] = [:]
  /// For each slot the index of its section; -1 if the slot is free.
  @usableFromInline var order: [Int] = []
  @usableFromInline var free: [Int] = []

  @inlinable init() {}

  /// The slots of sections that are known to be different: their indices.
  @inlinable init(_ sections: [Section]) {
    slots.reserveCapacity(sections.count)
    for (place, section) in sections.enumerated() { slots[section] = place }
    order = Array(sections.indices)
  }

  @inlinable func place(of section: Section) -> Int? { slots[section].map { order[$0] } }

  /// A slot for a new section at an index.
  @inlinable mutating func add(_ section: Section, at place: Int) -> Int {
    let slot = free.popLast() ?? order.count
    if slot == order.count { order.append(place) } else { order[slot] = place }
    slots[section] = slot
    return slot
  }

  @inlinable mutating func remove(_ section: Section) {
    guard let slot = slots.removeValue(forKey: section) else { return }
    order[slot] = -1
    free.append(slot)
  }

  @inlinable mutating func set(_ slot: Int, to place: Int) { order[slot] = place }
}
