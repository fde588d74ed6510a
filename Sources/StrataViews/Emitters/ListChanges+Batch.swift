// The canonical batch as one batch update that UIKit accepts.

public import StrataLists

extension ListChanges {
  /// All changes as one `performBatchUpdates`.
  ///
  /// UIKit refuses some of what the canonical batch says, or does it wrong; this is how each is said instead:
  ///
  /// - A section that moves while an item of it is put in, taken out, moved or reloaded: deleted and inserted. Its
  ///   items are no operations of their own then.
  /// - An item that is deleted with its section, or inserted with it: nothing.
  /// - A move out of a section that is deleted: an insertion. Into one that is inserted: a deletion. Both:
  ///   nothing.
  /// - A reload where items move in the same section or any section moves: a deletion and an insertion. UIKit
  ///   computes the new place of a reload from deletions and insertions alone.
  /// - A move with a reload: a deletion and an insertion. A move whose row changed: a move, and the cell is
  ///   reconfigured at its new place.
  ///
  /// The item's own story (was it deleted, or only its section?) is told by the canonical batch, not by this one.
  ///
  /// - Parameter style: how cells are shown again whose rows changed.
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

  /// The places of sections that are built anew: deleted and inserted ones, and those that move while something
  /// happens inside them.
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
