// Which page files are worth keeping.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// How many bytes of each page file a state uses.
struct StateUsage {
  private(set) var trees = PageUsage()
  /// Files with pages of trees that are not open.
  private(set) var pinned: Set<UInt32> = []
  /// The roots of the trees of rows that are counted.
  private var rows: [PageAddress] = []

  mutating func add(_ usage: PageUsage) { trees.add(usage) }

  /// Notes that the rows of a table are counted, so that they are not once more with a view of them.
  mutating func note(rows tree: Tree) {
    guard let root = tree.root else { return }
    let address = withExtendedLifetime(root) { PageRef(root).addressOnDisk }
    if !address.isNone { rows.append(address) }
  }

  /// Adds a view that is not open: its pages cannot be written again, so the files that hold them stay. Rows that several
  /// views were made of count once. Pages that another tree has, too, count twice: see `plan`.
  mutating func add(_ view: ViewOnDisk) {
    for tree in view.roots.view.values { trees.add(tree.usage) }
    pinned.formUnion(view.pageFiles)
    let address = view.roots.rows.root.address
    guard !rows.contains(address) else { return }
    rows.append(address)
    trees.add(view.roots.rows.usage)
  }

  var bytes: [UInt32: UInt64] { trees.bytes }
}

/// What a checkpoint does with the page files that there are.
struct StateGarbage {
  /// Files whose pages are written again.
  var condemned: Set<UInt32> = []
  /// Files that stay.
  var kept: Set<UInt32> = []
  /// Whether the file that was last appended to is continued.
  var current = false

  /// Bytes of garbage that are never worth a copy.
  private static let garbageMax: UInt64 = 1 << 20
  /// The number of page files above which small ones are copied into one.
  private static let fileCountMax = 64

  /// Files without a live page go. Of those that are less than half alive what lives is copied, together with the pages
  /// above it, once all files together are longer than twice what is alive and `garbageMax`. Otherwise the same is done
  /// with those below 8 MiB, an eighth of what a file may have, once there are more than `fileCountMax`. No file counts as
  /// more alive than it is long. A file that somebody removed has to be written again, and so has one with a damaged page.
  ///
  /// - Parameters:
  ///   - known: the files that the last state named.
  ///   - damaged: files with pages that could not be read. None is pinned.
  ///   - current: the file that this process appends to.
  ///   - isOwn: whether the newest state on disk is the one that this process read or wrote last. If not, a file may be
  ///     another one than that in which a page was.
  static func plan(
    _ usage: StateUsage, _ files: StateFiles, _ known: Set<UInt32>, damaged: Set<UInt32>,
    current: UInt32?, isOwn: Bool
  ) throws(StoreError) -> StateGarbage {
    let present = isOwn ? try files.pageFiles() : []
    var plan = StateGarbage()
    var lengths: [UInt32: UInt64] = [:]
    for number in Set(usage.bytes.keys).union(known) {
      guard present.contains(number), !damaged.contains(number),
        let length = files.length(ofPages: number)
      else {
        plan.condemned.insert(number)
        continue
      }
      if usage.bytes[number] == nil, number != current { continue }
      lengths[number] = length
      plan.kept.insert(number)
    }
    // Pages that several views share may be counted more than once, but a file holds no more than its length.
    let live = lengths.reduce(UInt64(0)) { sum, file in
      sum.addingSaturated(min(usage.bytes[file.key] ?? 0, file.value))
    }
    let total = lengths.values.reduce(UInt64(0)) { $0.addingSaturated($1) }
    if total > live.addingSaturated(live).addingSaturated(garbageMax) {
      for (number, length) in lengths
      where (usage.bytes[number] ?? 0) < length / 2 && !usage.pinned.contains(number) { plan.giveUp(number) }
    } else if lengths.count > fileCountMax {
      for (number, length) in lengths
      where length < StateWriter.fileLengthMax / 8 && !usage.pinned.contains(number) { plan.giveUp(number) }
    }
    plan.current = current.map { plan.kept.contains($0) } ?? false
    return plan
  }

  private mutating func giveUp(_ number: UInt32) {
    kept.remove(number)
    condemned.insert(number)
  }
}
