// Making pages of a state again from the log, where the disk lost them.
//
// A page of a tree is known by its bounds: it has the entries of its tree from the low bound on and below the high one.
// The same events make the same trees, so the entries are found in the result of another fold up to the same sequence.
// Entries of that range are equal in each tree that has the page, since the page was never changed in any of them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// Pages of saved states that could not be read.
struct StateFaults: Sendable, Equatable {
  /// How many pages were made again from the log.
  var count = 0
  /// What was wrong with the last of them.
  var last: String?
  /// The page files that they are in.
  var files: Set<UInt32> = []
}

/// Folds the log again up to the sequence of a saved state: once, when the first page of it cannot be read. Safe to use
/// from several threads; one at a time makes pages while the others wait.
///
/// If the log cannot be read either, or has another content than when the state was saved, no answer would be right, and
/// `PageLoss` is thrown: what writes states gives up, and a read, which cannot refuse, ends the process with a message.
/// An erasure may have this effect on a tree that somebody held while it was carried out, if in addition the disk then
/// loses a page of that tree. What gave way on a full disk before is folded before the erasure.
final class StateHealing: Sendable {
  private struct Result {
    var isBusy = false
    /// Whether the state's files were closed, so that the disk has their room.
    var areFilesGone = false
    var tables: TableSet?
    /// Two tables may have the same list.
    var views: [ViewKey: View] = [:]
  }

  /// The log, as long as it is open: trees that nobody has read whole must not keep it open.
  private struct OpenLog {
    weak var log: Log?
  }

  private let log: Lock<OpenLog>
  private let fileSystem: any FileSystem
  private let path: String
  private let options: StoreOptions
  private let folding: Folding
  let sequence: UInt64
  /// The chain of the log after the sequence; nil if it is not known.
  private let chain: UInt64?
  /// The folder of the state.
  private let folder: String
  private let faults: Lock<StateFaults>
  private let noteFold: @Sendable (_ events: UInt64) -> Void
  private let result = Gate(Result())

  /// - Parameter noteFold: called when the log was folded again, with the number of events.
  init(
    _ log: Log, _ folding: Folding, sequence: UInt64, chain: UInt64?, folder: String,
    faults: Lock<StateFaults>, noteFold: @escaping @Sendable (_ events: UInt64) -> Void = { _ in }
  ) {
    self.noteFold = noteFold
    self.log = Lock(OpenLog(log: log))
    fileSystem = log.source.catalog.fileSystem
    path = log.layout.root
    options = log.options
    self.folding = folding
    self.sequence = sequence
    self.chain = chain
    self.folder = folder
    self.faults = faults
  }

  /// A tree of the state as the log makes it; nil if there is none.
  private func tree(_ table: String, _ part: TablePart) throws(StoreError) -> Tree? {
    var made = result.wait { result -> Result? in
      guard !result.isBusy else { return nil }
      result.isBusy = true
      return result
    }
    defer {
      made.isBusy = false
      let done = made
      result.withLock { result in
        let areFilesGone = result.areFilesGone
        result = done
        result.areFilesGone = areFilesGone
      }
      result.signalAll()
    }
    let tables = if let tables = made.tables { tables } else { try foldAgain() }
    made.tables = tables
    switch part {
    case .rows: return tables[table].rows
    case .problems: return tables[table].problems
    case .view(let definition, let kind):
      let key = ViewKey(table, definition)
      let view = made.views[key] ?? View(definition, of: tables[table])
      made.views[key] = view
      return view.trees[kind]
    }
  }

  func noteFilesGone() { result.withLock { $0.areFilesGone = true } }

  /// Folds the log now if pages of the state can come from nowhere else.
  func makeIfFilesGone() {
    guard result.withLock({ $0.areFilesGone && $0.tables == nil }) else { return }
    _ = try? tree("", .rows)
  }

  private func foldAgain() throws(StoreError) -> TableSet {
    if let log = log.withLock({ $0.log }), let tables = try? fold(log) { return tables }
    // The store was closed, and a list outlives it.
    var options = options
    options.savesStates = false
    options.observer = nil
    return try fold(Log.openReader(fileSystem, path: path, options: options))
  }

  private func fold(_ log: Log) throws(StoreError) -> TableSet {
    let fold = Fold(log, folding)
    let begin = fold.state.sequence
    defer { noteFold(max(begin, fold.state.sequence) - begin) }
    try fold.run(through: sequence)
    guard fold.state.sequence == sequence else {
      throw .invalid(what: "the log ends at sequence \(fold.state.sequence), and the state is of \(sequence)")
    }
    if let chain {
      try fold.findChain()
      guard fold.state.chain == chain else { throw .invalid(what: "the log has other events than the state") }
    }
    return fold.state
  }
}

extension StateHealing {
  /// What makes the pages of one of its trees.
  func healing(_ table: String, _ part: TablePart) -> TreeHealing {
    TreeHealing(name: "\(self.name(table, part)), \(self.folder)", faults: faults) {
      [self] () throws(StoreError) in try tree(table, part)
    }
  }

  private func name(_ table: String, _ part: TablePart) -> String {
    switch part {
    case .rows: "rows of \(table)"
    case .problems: "problems of \(table)"
    case .view(let definition, let kind): "\(kind) of \(definition.kept?.name ?? "a list") over \(table)"
    }
  }
}

/// What makes the pages of one tree again.
struct TreeHealing: Sendable {
  /// What the tree is, for messages. Trees are made far more often than one of their pages is lost.
  private let name: @Sendable () -> String
  private let faults: Lock<StateFaults>
  private let tree: @Sendable () throws(StoreError) -> Tree?

  /// - Parameter tree: the tree with the same entries, from elsewhere; nil if there is none.
  init(
    name: @autoclosure @escaping @Sendable () -> String, faults: Lock<StateFaults>,
    tree: @escaping @Sendable () throws(StoreError) -> Tree?
  ) {
    (self.name, self.faults, self.tree) = (name, faults, tree)
  }

  /// A page that could not be read, with everything below it, owned by the caller.
  func page(_ part: PagePart, _ layout: PageLayout, _ damage: PageDamage) throws(PageLoss) -> PageRef {
    let fault = "\(damage): \(name())"
    let found: PageRef?
    do throws(StoreError) { found = try tree()?.page(part, layout) } catch {
      throw PageLoss(
        what: "\(fault). The log cannot replace it: \(error). Verify the store, then open it again.")
    }
    guard let found else {
      throw PageLoss(what: "\(fault). The log no longer has what it held. Open the store again.")
    }
    // Other pages on disk name that address. The next checkpoint gives up the file, and writes the page to another one.
    found.address.pointee = part.address
    if !damage.isWanted { note(fault, in: part.address.file) }
    return found
  }

  private func note(_ fault: String, in file: UInt32) {
    faults.withLock { faults in
      faults.count += 1
      faults.last = fault
      faults.files.insert(file)
    }
  }
}

extension Tree {
  /// A page of a height with the entries of a range of keys, owned by the caller. Nil if their number is another one,
  /// or they do not fit below such a page. O(entries).
  fileprivate func page(_ part: PagePart, _ layout: PageLayout) -> PageRef? {
    let start = part.low.map { $0.withUnsafeBytes { rank(of: $0).rank } } ?? 0
    let end = part.high.map { $0.withUnsafeBytes { rank(of: $0).rank } } ?? count
    guard end - start == Int(part.total), start < end else { return nil }
    if part.height == 0 { return leaf(start..<end, layout) }
    var builder = Builder(pageSize: pageSize)
    forEach(in: start..<end) { key, value in builder.append(key, value) }
    let built = builder.finish()
    guard let root = built.root else { return nil }
    var page = PageRef(root)
    // Pages that were filled in ascending order are fuller than those of a builder.
    guard page.height <= part.height else { return packed(start..<end, height: part.height, layout) }
    page.retain()
    while page.height < part.height {
      var draft = InnerDraft(height: page.height + 1)
      [UInt8]().withUnsafeBytes { draft.append(owned: page, separator: ByteRun($0)) }
      page = draft.build(0..<1)
    }
    return page
  }

  /// The entries of a range of ranks in leaves that are as full as can be, below one page of a height. No other leaves are
  /// fewer, so nil only if the entries never were below such a page.
  private func packed(_ ranks: Range<Int>, height: Int, _ layout: PageLayout) -> PageRef? {
    var level: [(page: PageRef, first: [UInt8])] = []
    var start = ranks.lowerBound
    while start < ranks.upperBound {
      var best = leaf(start..<start + 1, layout)
      var (low, high) = (start + 1, min(ranks.upperBound, start + max(1, layout.area / Slot.size)))
      while low < high {
        let middle = (low + high + 1) / 2
        if let more = leaf(start..<middle, layout) {
          best?.release()
          (best, low) = (more, middle)
        } else {
          high = middle - 1
        }
      }
      var first: [UInt8] = []
      forEach(in: start..<start + 1) { key, _ in first = Array(key) }
      if let best { level.append((best, first)) }
      start = low
    }
    for height in 1...height {
      var above: [(page: PageRef, first: [UInt8])] = []
      for begin in stride(from: 0, to: level.count, by: PageLayout.childCountMax) {
        var draft = InnerDraft(height: height)
        for index in begin..<min(begin + PageLayout.childCountMax, level.count) {
          level[index].first.withUnsafeBytes {
            draft.append(owned: level[index].page, separator: ByteRun($0))
          }
        }
        above.append((draft.build(0..<draft.count), level[begin].first))
      }
      level = above
    }
    guard level.count == 1 else {
      for item in level { item.page.release() }
      return nil
    }
    return level[0].page
  }

  /// The entries of a range of ranks as one leaf. A shorter prefix than the longest may be what makes them fit: it is
  /// padded.
  private func leaf(_ ranks: Range<Int>, _ layout: PageLayout) -> PageRef? {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    forEach(in: ranks) { key, value in entries.append((Array(key), Array(value))) }
    func withEntry<Value>(_ index: Int, _ body: (ByteRun, ByteRun) -> Value) -> Value {
      entries[index].key.withUnsafeBytes { key in
        entries[index].value.withUnsafeBytes { value in body(ByteRun(key), ByteRun(value)) }
      }
    }
    if entries.count == 1 { return withEntry(0) { layout.page($0, $1) } }
    let isAnyLarge = entries.contains {
      layout.isLarge(keyLength: $0.key.count, valueLength: $0.value.count)
    }
    guard !isAnyLarge else { return nil }
    let last = entries.count - 1
    var prefixLength = withEntry(0) { first, _ in
      withEntry(last) { last, _ in first.commonPrefixLength(last) }
    }
    while prefixLength >= 0 {
      let heapBytes = entries.reduce(0) { $0 + max(0, $1.key.count - prefixLength - 8) + $1.value.count }
      if PageRef.slotsOffset(prefixLength) + entries.count * Slot.size + heapBytes <= layout.area {
        var writer = withEntry(0) { first, _ in
          LeafWriter(
            prefix: ByteRun(base: first.base, count: prefixLength), heapBytes: heapBytes,
            capacity: layout.area)
        }
        for index in entries.indices { withEntry(index) { writer.append($0, $1) } }
        return writer.finish()
      }
      prefixLength -= 1
    }
    return nil
  }
}
