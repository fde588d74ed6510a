// Finding what changed between two snapshots that are values.

internal import StrataLists

/// Two snapshots, section by section.
///
/// What a section of both has at its beginning and at its end alike stays, and is not hashed: of two sequences
/// without repetitions some longest common subsequence has what they begin and end with. What is between is
/// numbered, in the old and in the new snapshot, and paired through a table of hashes.
struct SnapshotDiff<SectionID: Hashable & Sendable, ItemID: Hashable & Sendable> {
  typealias Snapshot = DiffableSnapshot<SectionID, ItemID>

  /// What is between the beginning and the end that a section shares with its other self.
  private struct Middle {
    /// The place of the section in the other snapshot; nil where it has none there.
    var other: Int?
    /// The places of the items.
    var items: Range<Int>
    /// The number of the first one among all middles of the snapshot.
    var start: Int
  }

  private enum Fate: UInt8 { case inserted, stays, moves }

  private let old: Snapshot
  private let new: Snapshot
  private var oldMiddles: [Middle] = []
  private var newMiddles: [Middle] = []
  /// By number: where an old item of a middle stands.
  private var oldPlaces: [ListIndex] = []
  private var isKept: [Bool] = []
  /// By number: which old item a new one is, -1 where it is inserted.
  private var origins: [Int] = []
  private var fates: [Fate] = []
  private var marks: [ItemMark?] = []
  private var updates: [ListChanges<ItemID, SectionID>.Update] = []
  /// Whether an item's content is another one than before, by its places; nil where only marks say so.
  var isChanged: ((_ from: ListIndex, _ to: ListIndex) -> Bool)?

  init(from old: Snapshot, to new: Snapshot) {
    self.old = old
    self.new = new
  }

  mutating func run(_ changes: inout ListChanges<ItemID, SectionID>) {
    pairSections()
    pairItems()
    findMoves()
    addMarks()
    addContentChanges()
    addItems(to: &changes)
    addSections(to: &changes)
  }
}

// MARK: Pairing

extension SnapshotDiff {
  private mutating func pairSections() {
    oldMiddles = old.contents.map { Middle(other: nil, items: 0..<$0.items.count, start: 0) }
    newMiddles.reserveCapacity(new.contents.count)
    var count = 0
    for (place, content) in new.contents.enumerated() {
      let isSamePlace = place < old.contents.count && old.contents[place].id == content.id
      let other = isSamePlace ? place : old.slots.place(of: content.id)
      var items = 0..<content.items.count
      if let other {
        items = trim(old.contents[other].items, content.items)
        oldMiddles[other].other = place
        let shift = old.contents[other].items.count - content.items.count
        oldMiddles[other].items = items.lowerBound..<items.upperBound + shift
      }
      newMiddles.append(Middle(other: other, items: items, start: count))
      count += items.count
    }
    count = 0
    for place in oldMiddles.indices {
      oldMiddles[place].start = count
      count += oldMiddles[place].items.count
    }
  }

  /// The places in `b` between what both begin with and what both end with.
  private func trim(_ a: [ItemID], _ b: [ItemID]) -> Range<Int> {
    if a.hasSameStorage(as: b) { return b.count..<b.count }
    let shorter = min(a.count, b.count)
    var start = 0
    while start < shorter, a[start] == b[start] { start += 1 }
    var end = 0
    while end < shorter - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
    return start..<b.count - end
  }

  private mutating func pairItems() {
    let oldCount = oldMiddles.last.map { $0.start + $0.items.count } ?? 0
    let newCount = newMiddles.last.map { $0.start + $0.items.count } ?? 0
    isKept = [Bool](repeating: false, count: oldCount)
    origins = [Int](repeating: -1, count: newCount)
    oldPlaces.reserveCapacity(oldCount)
    for (section, middle) in oldMiddles.enumerated() {
      for item in middle.items { oldPlaces.append(ListIndex(section: section, item: item)) }
    }
    guard oldCount > 0, newCount > 0 else { return }
    // The arrays alone: to reach through a section copies it.
    let oldItems = old.contents.map { $0.items }
    var table = HashedNumbers(capacity: oldCount)
    for (section, middle) in oldMiddles.enumerated() {
      let items = oldItems[section]
      for (number, item) in zip(middle.start..., middle.items) {
        table.insert(number, hash: items[item].hashValue)
      }
    }
    for (section, middle) in newMiddles.enumerated() {
      let items = new.contents[section].items
      for (number, item) in zip(middle.start..., middle.items) {
        let id = items[item]
        let origin = table.first(hash: id.hashValue) { number in
          oldItems[oldPlaces[number].section][oldPlaces[number].item] == id
        }
        guard let origin else { continue }
        origins[number] = origin
        isKept[origin] = true
      }
    }
  }

  private mutating func findMoves() {
    fates = [Fate](repeating: .inserted, count: origins.count)
    var numbers: [Int] = []
    var places: [Int] = []
    for middle in newMiddles {
      numbers.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      for number in middle.start..<middle.start + middle.items.count where origins[number] >= 0 {
        let from = oldPlaces[origins[number]]
        fates[number] = .moves
        guard from.section == middle.other else { continue }
        numbers.append(number)
        places.append(from.item)
      }
      for stays in longestIncreasingSubsequence(places) { fates[numbers[stays]] = .stays }
    }
  }
}

// MARK: Content

extension SnapshotDiff {
  /// Where an item that begins or ends a section like before was; nil for one in the middle.
  private func origin(of place: ListIndex) -> ListIndex? {
    let middle = newMiddles[place.section]
    guard let other = middle.other, !middle.items.contains(place.item) else { return nil }
    let isBefore = place.item < middle.items.lowerBound
    let shift = old.contents[other].items.count - new.contents[place.section].items.count
    return ListIndex(section: other, item: isBefore ? place.item : place.item + shift)
  }

  private func number(of place: ListIndex) -> Int {
    newMiddles[place.section].start + place.item - newMiddles[place.section].items.lowerBound
  }

  private mutating func addMarks() {
    marks = [ItemMark?](repeating: nil, count: origins.count)
    for (id, place, mark) in new.markedItems {
      if let from = origin(of: place) {
        updates.append(.init(id: id, from: from, to: place, isReload: mark == .reload))
      } else {
        marks[number(of: place)] = mark
      }
    }
  }

  /// Marks what has another content to be reconfigured, where it is not marked.
  private mutating func addContentChanges() {
    guard let isChanged else { return }
    let isMarked = Set(updates.map { $0.to })
    for (section, content) in new.contents.enumerated() {
      for item in content.items.indices {
        let place = ListIndex(section: section, item: item)
        if let from = origin(of: place) {
          guard isChanged(from, place), !isMarked.contains(place) else { continue }
          updates.append(.init(id: content.items[item], from: from, to: place))
        } else {
          let number = number(of: place)
          guard origins[number] >= 0, marks[number] == nil else { continue }
          if isChanged(oldPlaces[origins[number]], place) { marks[number] = .reconfigure }
        }
      }
    }
  }
}

// MARK: The batch

extension SnapshotDiff {
  private mutating func addItems(to changes: inout ListChanges<ItemID, SectionID>) {
    for number in isKept.indices.reversed() where !isKept[number] {
      let place = oldPlaces[number]
      changes.deletions.append(.init(id: old.contents[place.section].items[place.item], from: place))
    }
    for (section, middle) in newMiddles.enumerated() {
      let items = new.contents[section].items
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
              id: id, from: oldPlaces[origin], to: to, isChanged: mark != nil, isReload: mark == .reload))
        case .stays:
          guard let mark else { continue }
          updates.append(.init(id: id, from: oldPlaces[origin], to: to, isReload: mark == .reload))
        }
      }
    }
    changes.updates = updates.sorted { $0.to < $1.to }
  }

  private func addSections(to changes: inout ListChanges<ItemID, SectionID>) {
    for (place, middle) in oldMiddles.enumerated().reversed() where middle.other == nil {
      changes.sectionDeletions.append(.init(section: old.contents[place].id, from: place))
    }
    var kept: [(from: Int, to: Int)] = []
    for (place, middle) in newMiddles.enumerated() {
      let content = new.contents[place]
      guard let other = middle.other else {
        changes.sectionInsertions.append(.init(section: content.id, to: place, count: content.items.count))
        continue
      }
      kept.append((other, place))
      let isReload = new.marks.sections.contains(content.id)
      guard isReload || old.contents[other].items.count != content.items.count else { continue }
      changes.sectionUpdates.append(
        .init(section: content.id, from: other, to: place, count: content.items.count, isReload: isReload))
    }
    var staying = longestIncreasingSubsequence(kept.map { $0.from })[...]
    for (number, (from, to)) in kept.enumerated() {
      if staying.first == number {
        staying.removeFirst()
      } else {
        changes.sectionMoves.append(.init(section: new.contents[to].id, from: from, to: to))
      }
    }
  }
}
