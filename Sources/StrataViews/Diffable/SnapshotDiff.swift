// Finding the changes between two diffable snapshots.

public import StrataLists

/// Compares two snapshots, section by section.
///
/// The items of a section's common prefix and common suffix stay, and are not hashed: two sequences without repetitions
/// have a longest common subsequence that contains both. The items between them, in the old and in the new snapshot,
/// are numbered and paired: first those that are found by looking a few items ahead, then the others through a hash
/// table.
@usableFromInline @frozen
struct SnapshotDiff<ItemID: Hashable & Sendable, Section: Hashable & Sendable> {
  @usableFromInline typealias Snapshot = DiffableSnapshot<ItemID, Section>

  /// The items of a section between the prefix and the suffix that both snapshots have in common.
  @usableFromInline @frozen
  struct Middle {
    /// The index of the section in the other snapshot; nil if the section is not there.
    @usableFromInline var other: Int?
    /// The indices of the items.
    @usableFromInline var items: Range<Int>
    /// The number of the first of these items among all middles of the snapshot.
    @usableFromInline var start: Int

    @inlinable init(other: Int?, items: Range<Int>, start: Int) {
      self.other = other
      self.items = items
      self.start = start
    }
  }

  @usableFromInline @frozen
  enum Fate: UInt8 { case inserted, stays, moves }

  @usableFromInline let old: Snapshot
  @usableFromInline let new: Snapshot
  @usableFromInline var oldMiddles: [Middle] = []
  @usableFromInline var newMiddles: [Middle] = []
  /// By number: the position of an old item of a middle.
  @usableFromInline var oldPositions: [ListIndex] = []
  @usableFromInline var isKept: [Bool] = []
  /// By number: the number of the old item that a new item is, or -1 if it is inserted.
  @usableFromInline var origins: [Int] = []
  @usableFromInline var fates: [Fate] = []
  @usableFromInline var marks: [ItemMark?] = []
  @usableFromInline var updates: [ListChanges<ItemID, Section>.Update] = []

  @inlinable
  init(from old: Snapshot, to new: Snapshot) {
    self.old = old
    self.new = new
  }

  @inlinable
  mutating func run(_ changes: inout ListChanges<ItemID, Section>) {
    pairSections()
    pairItems()
    findMoves()
    addMarks()
    addItems(to: &changes)
    addSections(to: &changes)
  }
}

// MARK: Pairing

extension SnapshotDiff {
  @inlinable
  mutating func pairSections() {
    oldMiddles = old.sections.map { Middle(other: nil, items: 0..<$0.items.count, start: 0) }
    newMiddles.reserveCapacity(new.sections.count)
    var count = 0
    for (position, content) in new.sections.enumerated() {
      let isSamePosition = position < old.sections.count && old.sections[position].id == content.id
      let other = isSamePosition ? position : old.indexOfSection(content.id)
      var items = 0..<content.items.count
      if let other {
        items = trim(old.sections[other].items, content.items)
        oldMiddles[other].other = position
        let shift = old.sections[other].items.count - content.items.count
        oldMiddles[other].items = items.lowerBound..<items.upperBound + shift
      }
      newMiddles.append(Middle(other: other, items: items, start: count))
      count += items.count
    }
    count = 0
    for position in oldMiddles.indices {
      oldMiddles[position].start = count
      count += oldMiddles[position].items.count
    }
  }

  /// The indices in `b` between the common prefix and the common suffix of both arrays.
  @inlinable
  func trim(_ a: [ItemID], _ b: [ItemID]) -> Range<Int> {
    if a.hasSameStorage(as: b) { return b.count..<b.count }
    let shorter = min(a.count, b.count)
    var start = 0
    while start < shorter, a[start] == b[start] { start += 1 }
    var end = 0
    while end < shorter - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
    return start..<b.count - end
  }

  @inlinable
  mutating func pairItems() {
    let oldCount = oldMiddles.last.map { $0.start + $0.items.count } ?? 0
    let newCount = newMiddles.last.map { $0.start + $0.items.count } ?? 0
    isKept = [Bool](repeating: false, count: oldCount)
    origins = [Int](repeating: -1, count: newCount)
    oldPositions.reserveCapacity(oldCount)
    for (section, middle) in oldMiddles.enumerated() {
      for item in middle.items { oldPositions.append(ListIndex(section: section, item: item)) }
    }
    guard oldCount > 0, newCount > 0 else { return }
    let paired = pairNearbyItems()
    if paired < oldCount, paired < newCount { pairItemsByHash(oldCount - paired) }
  }

  /// How many items ahead are compared before two items are left to the hash table.
  @inlinable static var lookaheadMax: Int { 8 }
  /// The credit that a section begins with. Each pair adds one to it, and a section without credit is given up.
  @inlinable static var missCreditAtFirst: Int { 64 }
  /// The credit that a miss costs, since it compares up to `lookaheadMax` items on both sides.
  @inlinable static var missCost: Int { 4 }

  /// Pairs the items of each section that are in the same order in both snapshots, apart from short runs of deleted,
  /// inserted and moved items between them. No snapshot has an item twice, so equal items are the same item, and a pair
  /// is right however it was found. Gives up on a section where it finds few pairs.
  ///
  /// - Returns: the number of items that were paired.
  @inlinable
  mutating func pairNearbyItems() -> Int {
    var paired = 0
    for (section, middle) in newMiddles.enumerated() {
      guard let other = middle.other, !middle.items.isEmpty, !oldMiddles[other].items.isEmpty else {
        continue
      }
      let oldMiddle = oldMiddles[other]
      let shifts = (
        old: oldMiddle.start - oldMiddle.items.lowerBound, new: middle.start - middle.items.lowerBound
      )
      old.sections[other].items.withUnsafeBufferPointer { a in
        new.sections[section].items.withUnsafeBufferPointer { b in
          var (i, j) = (oldMiddle.items.lowerBound, middle.items.lowerBound)
          let ends = (old: oldMiddle.items.upperBound, new: middle.items.upperBound)
          var missCredit = Self.missCreditAtFirst
          while i < ends.old, j < ends.new {
            if a[i] == b[j] {
              origins[j + shifts.new] = i + shifts.old
              isKept[i + shifts.old] = true
              paired += 1
              missCredit += 1
              i += 1
              j += 1
              continue
            }
            var distance = 1
            while distance <= Self.lookaheadMax {
              if i + distance < ends.old, a[i + distance] == b[j] {
                i += distance
                break
              }
              if j + distance < ends.new, a[i] == b[j + distance] {
                j += distance
                break
              }
              distance += 1
            }
            guard distance > Self.lookaheadMax else { continue }
            missCredit -= Self.missCost
            if missCredit < 0 { return }
            i += 1
            j += 1
          }
        }
      }
    }
    return paired
  }

  /// Pairs the remaining items through a hash table of the old ones.
  ///
  /// - Parameter count: the number of old items that are not paired.
  @inlinable
  mutating func pairItemsByHash(_ count: Int) {
    // Only the arrays of items: reading them through a section copies the section.
    let oldItems = old.sections.map { $0.items }
    var table = HashedNumbers(capacity: count)
    for (section, middle) in oldMiddles.enumerated() {
      let items = oldItems[section]
      for (number, item) in zip(middle.start..., middle.items) where !isKept[number] {
        table.insert(number, hash: items[item].hashValue)
      }
    }
    for (section, middle) in newMiddles.enumerated() {
      let items = new.sections[section].items
      for (number, item) in zip(middle.start..., middle.items) where origins[number] < 0 {
        let id = items[item]
        let origin = table.first(hash: id.hashValue) { number in
          oldItems[oldPositions[number].section][oldPositions[number].item] == id
        }
        guard let origin else { continue }
        origins[number] = origin
        isKept[origin] = true
      }
    }
  }

  @inlinable
  mutating func findMoves() {
    fates = [Fate](repeating: .inserted, count: origins.count)
    var numbers: [Int] = []
    var positions: [Int] = []
    for middle in newMiddles {
      numbers.removeAll(keepingCapacity: true)
      positions.removeAll(keepingCapacity: true)
      for number in middle.start..<middle.start + middle.items.count where origins[number] >= 0 {
        let from = oldPositions[origins[number]]
        fates[number] = .moves
        guard from.section == middle.other else { continue }
        numbers.append(number)
        positions.append(from.item)
      }
      for stays in longestIncreasingSubsequence(positions) { fates[numbers[stays]] = .stays }
    }
  }
}

// MARK: Marks

extension SnapshotDiff {
  /// The old position of an item in the common prefix or suffix of its section; nil for an item of the middle.
  @inlinable
  func origin(of position: ListIndex) -> ListIndex? {
    let middle = newMiddles[position.section]
    guard let other = middle.other, !middle.items.contains(position.item) else { return nil }
    let isBefore = position.item < middle.items.lowerBound
    let shift = old.sections[other].items.count - new.sections[position.section].items.count
    return ListIndex(section: other, item: isBefore ? position.item : position.item + shift)
  }

  @inlinable
  func number(of position: ListIndex) -> Int {
    newMiddles[position.section].start + position.item - newMiddles[position.section].items.lowerBound
  }

  @inlinable
  mutating func addMarks() {
    marks = [ItemMark?](repeating: nil, count: origins.count)
    for (id, position, mark) in new.markedItems {
      if let from = origin(of: position) {
        updates.append(.init(id: id, from: from, to: position, isReload: mark == .reload))
      } else {
        marks[number(of: position)] = mark
      }
    }
  }
}

// MARK: The batch

extension SnapshotDiff {
  @inlinable
  mutating func addItems(to changes: inout ListChanges<ItemID, Section>) {
    for number in isKept.indices.reversed() where !isKept[number] {
      let position = oldPositions[number]
      changes.deletions.append(.init(id: old.sections[position.section].items[position.item], from: position))
    }
    for (section, middle) in newMiddles.enumerated() {
      let items = new.sections[section].items
      for (number, item) in zip(middle.start..., middle.items) {
        if fates[number] == .stays, marks[number] == nil { continue }
        let id = items[item]
        let to = ListIndex(section: section, item: item)
        let (mark, origin) = (marks[number], origins[number])
        switch fates[number] {
        case .inserted:
          changes.insertions.append(.init(id: id, to: to))
        case .moves:
          changes.moves.append(
            .init(
              id: id, from: oldPositions[origin], to: to, isChanged: mark != nil, isReload: mark == .reload))
        case .stays:
          guard let mark else { continue }
          updates.append(.init(id: id, from: oldPositions[origin], to: to, isReload: mark == .reload))
        }
      }
    }
    changes.updates = updates.sorted { $0.to < $1.to }
  }

  @inlinable
  func addSections(to changes: inout ListChanges<ItemID, Section>) {
    for (position, middle) in oldMiddles.enumerated().reversed() where middle.other == nil {
      changes.sectionDeletions.append(.init(section: old.sections[position].id, from: position))
    }
    var kept: [(from: Int, to: Int)] = []
    for (position, middle) in newMiddles.enumerated() {
      let content = new.sections[position]
      guard let other = middle.other else {
        changes.sectionInsertions.append(.init(section: content.id, to: position, count: content.items.count))
        continue
      }
      kept.append((other, position))
      let isReload = new.marks.sections.contains(content.id)
      guard isReload || old.sections[other].items.count != content.items.count else { continue }
      changes.sectionUpdates.append(
        .init(section: content.id, from: other, to: position, count: content.items.count, isReload: isReload))
    }
    var staying = longestIncreasingSubsequence(kept.map { $0.from })[...]
    for (number, (from, to)) in kept.enumerated() {
      if staying.first == number {
        staying.removeFirst()
      } else {
        changes.sectionMoves.append(.init(section: new.sections[to].id, from: from, to: to))
      }
    }
  }
}
