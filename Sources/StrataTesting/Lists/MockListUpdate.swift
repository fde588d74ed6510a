// One batch update under UIKit's rules: it is checked, and the origin of each cell is computed.

internal import StrataLists
internal import StrataViews

/// A batch that has passed all checks.
///
/// The order of the checks is UIKit's, and so is the way in which a reload becomes a deletion and an insertion: the new
/// index of a reloaded item is its old one, minus the items deleted before it, plus the items inserted before it. Moves
/// are not counted, so a reload next to a move shows wrong content or conflicts with the move.
struct MockListUpdate {
  /// For each new section, the index of the old one; nil if the section is inserted.
  private(set) var oldSections: [Int?] = []
  /// By old section, the items that are deleted or moved.
  private(set) var itemsGone: [Int: Set<Int>] = [:]
  private(set) var insertions: Set<ListIndex> = []
  /// New index → old index.
  private(set) var moves: [ListIndex: ListIndex] = [:]

  private var deletions: Set<ListIndex> = []
  private var sectionDeletions: Set<Int> = []
  private var sectionInsertions: Set<Int> = []
  private let batch: ListBatch
  private let before: [Int]
  private let after: [Int]

  init<ItemID, SectionID>(
    _ updates: MockListView<ItemID, SectionID>.Updates, before: [Int], after: [Int]
  ) throws(MockListError) {
    batch = updates.batch
    self.before = before
    self.after = after
    sectionDeletions = try Self.unique(batch.sectionDeletions) { "attempt to delete section \($0) twice" }
    sectionInsertions = try Self.unique(batch.sectionInsertions) { "attempt to insert section \($0) twice" }
    deletions = try Self.unique(batch.deletions) {
      "attempt to delete the same index path twice (\($0.path))"
    }
    insertions = try Self.unique(batch.insertions) {
      "attempt to insert the same index path twice (\($0.path))"
    }
    try reload(updates.reloadedSections)
    try checkDeletions()
    try checkInsertions()
    try checkMoves()
    try countSections()
    try countItems()
    try refuseWhatIsSilent()
  }

  private static func unique<Position: Hashable>(
    _ positions: [Position], _ message: (Position) -> String
  ) throws(MockListError) -> Set<Position> {
    var set: Set<Position> = []
    for position in positions where !set.insert(position).inserted {
      throw .silentCorruption(message(position))
    }
    return set
  }

  // MARK: Reloads

  private mutating func reload(_ sections: [Int]) throws(MockListError) {
    let (deletedSections, insertedSections) = (sectionDeletions, sectionInsertions)
    let (deletedItems, insertedItems) = (deletions, insertions)
    func newPosition(_ old: Int) -> Int {
      var position = old - deletedSections.count { $0 < old }
      for inserted in insertedSections.sorted() where inserted <= position { position += 1 }
      return position
    }
    for section in sections {
      guard section < before.count else {
        throw .outOfBounds(
          "attempt to reload section \(section), but there are only \(before.count) sections before the update"
        )
      }
      guard !deletedSections.contains(section) else {
        throw .conflict("attempt to delete and reload the same section (\(section))")
      }
      sectionDeletions.insert(section)
      sectionInsertions.insert(newPosition(section))
    }
    for position in batch.reloads {
      guard before.indices.contains(position.section), (0..<before[position.section]).contains(position.item)
      else {
        throw .outOfBounds(
          "attempt to reload item \(position.item) of section \(position.section), which does not exist before the "
            + "update")
      }
      guard !deletedItems.contains(position) else {
        throw .conflict("attempt to delete and reload the same index path (\(position.path))")
      }
      guard !sectionDeletions.contains(position.section) else {
        throw .silentCorruption("attempt to reload an item of a deleted section (\(position.path))")
      }
      let section = newPosition(position.section)
      var item =
        position.item - deletedItems.count { $0.section == position.section && $0.item < position.item }
      for other in insertedItems.sorted() where other.section == section && other.item <= item { item += 1 }
      let to = ListIndex(section: section, item: item)
      guard deletions.insert(position).inserted, insertions.insert(to).inserted else {
        throw .silentCorruption("attempt to reload the same index path twice (\(position.path))")
      }
    }
  }

  // MARK: Single operations

  private func checkDeletions() throws(MockListError) {
    for section in sectionDeletions.sorted(by: >) {
      guard before.indices.contains(section) else {
        throw .outOfBounds(
          "attempt to delete section \(section), but there are only \(before.count) sections before the update"
        )
      }
      guard !batch.sectionMoves.contains(where: { $0.from == section }) else {
        throw .conflict("attempt to perform a delete and a move from the same section (\(section))")
      }
      guard !batch.moves.contains(where: { $0.from.section == section }) else {
        throw .moveAcrossLifetime("cannot move an item from a deleted section (\(section))")
      }
    }
    let moved = Set(batch.moves.map { $0.from })
    for position in deletions.sorted(by: >) {
      guard before.indices.contains(position.section) else {
        throw .outOfBounds(
          "attempt to delete item \(position.item) from section \(position.section), but there are only \(before.count) "
            + "sections before the update")
      }
      guard (0..<before[position.section]).contains(position.item) else {
        throw .outOfBounds(
          "attempt to delete item \(position.item) from section \(position.section) which only contains "
            + "\(before[position.section]) items before the update")
      }
      guard !moved.contains(position) else {
        throw .conflict("attempt to perform a delete and a move from the same index path (\(position.path))")
      }
    }
  }

  private func checkInsertions() throws(MockListError) {
    for section in sectionInsertions.sorted() {
      guard after.indices.contains(section) else {
        throw .outOfBounds(
          "attempt to insert section \(section) but there are only \(after.count) sections after the update")
      }
      guard !batch.sectionMoves.contains(where: { $0.to == section }) else {
        throw .conflict("attempt to perform an insert and a move to the same section (\(section))")
      }
      guard !batch.moves.contains(where: { $0.to.section == section }) else {
        throw .moveAcrossLifetime("cannot move an item into a newly inserted section (\(section))")
      }
    }
    let moved = Set(batch.moves.map { $0.to })
    for position in insertions.sorted() {
      guard after.indices.contains(position.section) else {
        throw .outOfBounds(
          "attempt to insert item \(position.item) into section \(position.section), but there are only \(after.count) "
            + "sections after the update")
      }
      guard (0..<after[position.section]).contains(position.item) else {
        throw .outOfBounds(
          "attempt to insert item \(position.item) into section \(position.section), but there are only "
            + "\(after[position.section]) items in section \(position.section) after the update")
      }
      guard !moved.contains(position) else {
        throw .conflict("attempt to perform an insert and a move to the same index path (\(position.path))")
      }
    }
  }

  private mutating func checkMoves() throws(MockListError) {
    var sectionsFrom: [Int: Int] = [:]
    var sectionsTo: [Int: Int] = [:]
    for move in batch.sectionMoves {
      guard before.indices.contains(move.from) else {
        throw .outOfBounds(
          "attempt to move section \(move.from), but there are only \(before.count) sections before the update"
        )
      }
      guard after.indices.contains(move.to) else {
        throw .outOfBounds(
          "attempt to move section \(move.from) to section \(move.to), but there are only \(after.count) sections "
            + "after the update")
      }
      if let to = sectionsFrom.updateValue(move.to, forKey: move.from) {
        throw .conflict("attempt to move section \(move.from) to both section \(to) and section \(move.to)")
      }
      if let from = sectionsTo.updateValue(move.from, forKey: move.to) {
        throw .conflict("attempt to move both section \(from) and section \(move.from) to section \(move.to)")
      }
    }
    var from: [ListIndex: ListIndex] = [:]
    for move in batch.moves {
      try checkBounds(move)
      if let to = from.updateValue(move.to, forKey: move.from) {
        throw .conflict(
          "attempt to move item at index path \(move.from.path) to both \(to.path) and \(move.to.path)")
      }
      if let other = moves.updateValue(move.from, forKey: move.to) {
        throw .conflict(
          "attempt to move both item at index path \(other.path) and \(move.from.path) to \(move.to.path)")
      }
    }
  }

  private func checkBounds(_ move: ListBatch.Move) throws(MockListError) {
    let (from, to) = (move.from, move.to)
    guard before.indices.contains(from.section) else {
      throw .outOfBounds(
        "attempt to move index path (\(from.path)) from a section that does not exist - there are only "
          + "\(before.count) sections before the update")
    }
    guard (0..<before[from.section]).contains(from.item) else {
      throw .outOfBounds(
        "attempt to move index path (\(from.path)) that does not exist - there are only \(before[from.section]) "
          + "items in section \(from.section) before the update")
    }
    guard after.indices.contains(to.section) else {
      throw .outOfBounds(
        "attempt to move index path (\(from.path)) to index path (\(to.path)) in a section that does not exist - "
          + "there are only \(after.count) sections after the update")
    }
    guard (0..<after[to.section]).contains(to.item) else {
      throw .outOfBounds(
        "attempt to move index path (\(from.path)) to index path (\(to.path)) that does not exist - there are "
          + "only \(after[to.section]) items in section \(to.section) after the update")
    }
  }

  // MARK: Counts

  private mutating func countSections() throws(MockListError) {
    guard after.count == before.count + sectionInsertions.count - sectionDeletions.count else {
      throw .invalidSections(
        before: before.count, after: after.count, inserted: sectionInsertions.count,
        deleted: sectionDeletions.count)
    }
    let moved = Dictionary(uniqueKeysWithValues: batch.sectionMoves.map { ($0.to, $0.from) })
    let movers = Set(moved.values)
    var staying = before.indices.filter { !sectionDeletions.contains($0) && !movers.contains($0) }
      .makeIterator()
    for section in after.indices {
      oldSections.append(sectionInsertions.contains(section) ? nil : moved[section] ?? staying.next())
    }
  }

  private mutating func countItems() throws(MockListError) {
    for (section, from) in oldSections.enumerated() {
      guard let from else { continue }
      let inserted = insertions.count { $0.section == section }
      let deleted = deletions.count { $0.section == from }
      let movedIn = batch.moves.count { $0.to.section == section }
      let movedOut = batch.moves.count { $0.from.section == from }
      guard after[section] == before[from] + inserted - deleted + movedIn - movedOut else {
        throw .invalidItems(
          section: from, before: before[from], after: after[section], inserted: inserted, deleted: deleted,
          movedIn: movedIn, movedOut: movedOut)
      }
    }
    for position in deletions { itemsGone[position.section, default: []].insert(position.item) }
    for move in batch.moves { itemsGone[move.from.section, default: []].insert(move.from.item) }
  }

  // MARK: Stricter than UIKit

  /// Refuses what UIKit accepts without an exception, and after which it shows wrong cells, runs no animation, or
  /// crashes later.
  private func refuseWhatIsSilent() throws(MockListError) {
    let movedOld = Set(batch.sectionMoves.map { $0.from })
    let movedNew = Set(batch.sectionMoves.map { $0.to })
    let old = deletions.sorted() + batch.moves.map { $0.from }
    let new = insertions.sorted() + batch.moves.map { $0.to }
    for position in old where sectionDeletions.contains(position.section) {
      throw .silentCorruption("an operation on an item of a deleted section (\(position.path))")
    }
    for position in new where sectionInsertions.contains(position.section) {
      throw .silentCorruption("an operation on an item of an inserted section (\(position.path))")
    }
    for position in old where movedOld.contains(position.section) {
      throw .silentCorruption("an operation on an item of a section that moves (\(position.path))")
    }
    for position in new where movedNew.contains(position.section) {
      throw .silentCorruption("an operation on an item of a section that moves (\(position.path))")
    }
  }
}
