// The sections of a snapshot by their identifiers.

/// The sections of a snapshot, and a number for each that stays the same when others come and go.
struct SectionSlots<SectionID: Hashable & Sendable>: Sendable {
  private(set) var slots: [SectionID: Int] = [:]
  /// For each slot the place of its section; -1 where it is free.
  private(set) var order: [Int] = []
  private var free: [Int] = []

  init() {}

  /// The slots of sections that are known to be different: their places.
  init(_ sections: [SectionID]) {
    slots.reserveCapacity(sections.count)
    for (place, section) in sections.enumerated() { slots[section] = place }
    order = Array(sections.indices)
  }

  func place(of section: SectionID) -> Int? { slots[section].map { order[$0] } }

  /// A slot for a new section at a place.
  mutating func add(_ section: SectionID, at place: Int) -> Int {
    let slot = free.popLast() ?? order.count
    if slot == order.count { order.append(place) } else { order[slot] = place }
    slots[section] = slot
    return slot
  }

  mutating func remove(_ section: SectionID) {
    guard let slot = slots.removeValue(forKey: section) else { return }
    order[slot] = -1
    free.append(slot)
  }

  mutating func set(_ slot: Int, to place: Int) { order[slot] = place }
}
