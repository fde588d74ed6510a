// Where one fold of the past puts pages that are too many for memory.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// A file without a name, and those before it that have pages which are still in use. Belongs to one thread at a time.
///
/// Events change pages again and again, and each time that memory is full the file gets a copy of them. So when most of it
/// is of no use, what the state of the fold has there moves to another file, for everybody who holds it; the old one is
/// closed when nobody has a page in it any longer. Each file is then a small multiple of one state.
final class PastFile {
  private struct Retired {
    weak var lineage: StateLineage?
  }

  private let store: EventStore
  private let folding: Folding
  private let memory: PastMemory
  /// The one before the fold read anything.
  private let erasureCount: Int
  private var file: SpillFile?
  private var retired: [Retired] = []

  init(_ store: EventStore, _ folding: Folding) {
    self.store = store
    self.folding = folding
    memory = store.pastMemory
    erasureCount = memory.erasureCount
  }

  /// The bytes of the file that is written to.
  var length: UInt64 { file?.length ?? 0 }

  /// Moves what only the state of a fold has to the file. Returns whether there is one.
  @discardableResult
  func spill(_ fold: Fold) -> Bool {
    let isOpen = spill { (file) throws(StoreError) in _ = try fold.spill(to: file, over: 0) }
    if isOpen { beginAgain(with: fold.state) }
    return isOpen
  }

  /// Moves what nobody else has of a state to the file.
  func spill(_ state: inout TableSet) {
    let isOpen = spill { (file) throws(StoreError) in
      try state.spill(to: file, file.healing(store.log, folding, sequence: state.sequence))
    }
    if isOpen { beginAgain(with: state) }
  }

  @discardableResult
  func spill(_ body: (SpillFile) throws(StoreError) -> Void) -> Bool {
    guard let file = open() else { return false }
    memory.spill { () throws(StoreError) in try body(file) }
    return true
  }

  private func open() -> SpillFile? {
    // What gave way takes nothing more, and what is damaged gets nothing more. What was in it is folded again where it is
    // needed.
    if let old = file, old.isClosed || old.isDamaged { retire(old) }
    guard memory.mayWrite(since: erasureCount) else { return nil }
    file = file ?? memory.makeFile(folding, store.projectors.pageCache, since: erasureCount)
    return file
  }

  private func retire(_ old: SpillFile) {
    retired.removeAll { $0.lineage?.isClosed ?? true }
    if !old.isClosed { retired.append(Retired(lineage: old.lineage)) }
    file = nil
  }

  /// Goes on with another file if most of this one is of no use to a state.
  private func beginAgain(with state: TableSet) {
    guard let old = file, old.isMostlyUnused(by: { state.trees }, besides: memory.limit) else { return }
    retire(old)
    let lineages = retired.compactMap(\.lineage)
    spill { (file) throws(StoreError) in
      try state.move(
        from: lineages, to: file, file.healing(store.log, folding, sequence: state.sequence))
    }
  }
}
