// Which page files are worth keeping.

internal import StrataBase
internal import StrataLog

/// How many bytes of each page file a state uses.
struct StateUsage {
  private(set) var trees = PageUsage()
  /// Files with pages of trees that are not open.
  private(set) var pinned: Set<UInt32> = []

  mutating func add(_ usage: PageUsage) { trees.add(usage) }

  /// Adds a view that is not open: its pages cannot be written again, so the files that hold them stay.
  mutating func add(_ view: ViewOnDisk) {
    let usage = view.usage
    trees.add(usage)
    pinned.formUnion(usage.bytes.keys)
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

  /// Files without a live page go; of those that are less than half alive what lives is copied, once there is more
  /// garbage than life; a file that somebody removed has to be written again, and so has one with a damaged page.
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
    let live = usage.bytes.values.reduce(UInt64(0)) { $0.addingSaturated($1) }
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
