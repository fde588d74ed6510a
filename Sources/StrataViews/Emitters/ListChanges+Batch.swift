// The canonical batch as one batch update that UIKit accepts.

public import StrataLists

extension ListChanges {
  /// All changes as one `performBatchUpdates`.
  ///
  /// UIKit rejects some operations of the canonical batch, or performs them wrongly. They are replaced as follows:
  ///
  /// - A section that moves while one of its items is inserted, deleted, moved or reloaded: the section is deleted and
  ///   inserted. Its items then have no operations of their own.
  /// - An item that is deleted or inserted together with its section: no operation.
  /// - A move out of a section that is deleted: an insertion. A move into a section that is inserted: a deletion. Both:
  ///   no operation.
  /// - A reload where items move in the same section, or where any section moves: a deletion and an insertion. UIKit
  ///   computes the new index of a reload from deletions and insertions alone.
  /// - A move with a reload: a deletion and an insertion. A move whose row changed: a move, and the cell is
  ///   reconfigured at its new index.
  ///
  /// This batch does not say whether an item was deleted itself or only removed with its section; the canonical batch
  /// does.
  ///
  /// - Parameter style: how the cells of changed rows are updated.
  /// - Complexity: O(k log k) for k changes.
  public func batch(_ style: ListContentStyle = .reconfigure) -> ListBatch {
    let sections = rebuiltSections(style)
    var batch = ListBatch()
    batch.sectionDeletions = Array(sections.dying)
    batch.sectionInsertions = Array(sections.born)
    batch.sectionMoves = sectionMoves.filter { !sections.dying.contains($0.from) }
      .map { .init(from: $0.from, to: $0.to) }

    func add(from: ListIndex?, to: ListIndex?) {
      if let from, !sections.dying.contains(from.section) { batch.deletions.append(from) }
      if let to, !sections.born.contains(to.section) { batch.insertions.append(to) }
    }
    for change in deletions { add(from: change.from, to: nil) }
    for change in insertions { add(from: nil, to: change.to) }
    var restless: Set<Int> = []
    for move in moves {
      let isWhole = !sections.dying.contains(move.from.section) && !sections.born.contains(move.to.section)
      guard isWhole, !move.isReload else {
        add(from: move.from, to: move.to)
        continue
      }
      batch.moves.append(.init(from: move.from, to: move.to))
      if move.isChanged { batch.reconfigures.append(move.to) }
      restless.insert(move.to.section)
      restless.insert(~move.from.section)
    }
    for update in updates where !sections.born.contains(update.to.section) {
      if !update.isReload, style == .reconfigure {
        batch.reconfigures.append(update.to)
      } else if batch.sectionMoves.isEmpty, !restless.contains(update.to.section),
        !restless.contains(~update.from.section)
      {
        batch.reloads.append(update.from)
      } else {
        add(from: update.from, to: update.to)
      }
    }
    for update in sectionUpdates where !sections.born.contains(update.to) {
      if update.isReload {
        batch.sectionReloads.append(update.to)
      } else {
        batch.sectionUpdates.append(update.to)
      }
    }
    batch.sort()
    return batch
  }

  /// The indices of the sections that the batch deletes and inserts: sections that were deleted or inserted, and
  /// sections that move while their items change.
  private func rebuiltSections(_ style: ListContentStyle) -> (dying: Set<Int>, born: Set<Int>) {
    var dying = Set(sectionDeletions.map { $0.from })
    var born = Set(sectionInsertions.map { $0.to })
    guard !sectionMoves.isEmpty else { return (dying, born) }
    var touchedOld = Set(deletions.lazy.map { $0.from.section })
    var touchedNew = Set(insertions.lazy.map { $0.to.section })
    for move in moves {
      touchedOld.insert(move.from.section)
      touchedNew.insert(move.to.section)
    }
    for update in updates where update.isReload || style == .reload { touchedNew.insert(update.to.section) }
    for move in sectionMoves where touchedOld.contains(move.from) || touchedNew.contains(move.to) {
      dying.insert(move.from)
      born.insert(move.to)
    }
    return (dying, born)
  }
}
