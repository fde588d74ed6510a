// Finding the sections of a snapshot by their identifiers.

/// The sections of a snapshot, each with a slot: a number that stays the same when other sections are added or removed.
@usableFromInline @frozen
struct SectionSlots<Section: Hashable & Sendable>: Sendable {
  @usableFromInline var slots: [Section: Int] = [:]
  /// The index of the section in each slot; -1 if the slot is free.
  @usableFromInline var order: [Int] = []
  @usableFromInline var free: [Int] = []

  @inlinable init() {}

  /// Creates slots for sections that are known to be distinct. A section's slot is its index.
  @inlinable init(_ sections: [Section]) {
    slots.reserveCapacity(sections.count)
    for (position, section) in sections.enumerated() { slots[section] = position }
    order = Array(sections.indices)
  }

  @inlinable func position(of section: Section) -> Int? { slots[section].map { order[$0] } }

  /// Assigns a slot to a new section at an index, and returns the slot.
  @inlinable mutating func add(_ section: Section, at position: Int) -> Int {
    let slot = free.popLast() ?? order.count
    if slot == order.count { order.append(position) } else { order[slot] = position }
    slots[section] = slot
    return slot
  }

  @inlinable mutating func remove(_ section: Section) {
    guard let slot = slots.removeValue(forKey: section) else { return }
    order[slot] = -1
    free.append(slot)
  }

  @inlinable mutating func set(_ slot: Int, to position: Int) { order[slot] = position }
}
