// Whether the keys that a run ends were there before it, and in which order runs get keys, so that this can be asked.
//
// A run notes which key of a row an event ended, as the program's code makes it of the older version when the run is
// written. By law that is the key which it made before. Code that breaks the law, as by reading a time zone, would end
// keys that never were there. A page with such a key has other keys than the runs count; the log cannot replace it,
// since the list that is made from there has other keys again, and a read of a snapshot cannot refuse. So the process
// would end. Therefore each ended key is looked for before it is written, and the list is left out of the history.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Looks for keys of one kind at the end of runs that hold a state together. Belongs to one thread at a time.
final class KeysBefore {
  /// The newest run first: the first one that has a key decides.
  @exclusivity(unchecked) private var counters: [KeyCounter] = []

  /// - Parameter runs: from a base on, or from the first one.
  init(
    _ runs: ArraySlice<RunReader>, _ kind: KeyOwner.Kind, of owner: KeyOwner, _ limits: RunLimits
  ) throws(PageDamage) {
    for run in runs.reversed() {
      guard let keys = try run.keySet(kind, of: owner), !keys.isEmpty else { continue }
      // Pages that stayed in memory would take the place of those that reads use.
      let sweep = RunSweep(run, length: limits.sweepLength)
      counters.append(KeyCounter(keys, at: run.root.end, nil, sweep))
    }
  }

  /// Whether a key is there. Keys are given in ascending order. O(runs · (log n + keys of a page)).
  func has(_ key: [UInt8]) throws(PageDamage) -> Bool {
    for index in counters.indices {
      let found = try key.lendBytes { (key) throws(PageDamage) in try counters[index].find(key) }
      if let isAlive = found.isAlive { return isAlive }
    }
    return false
  }
}

extension RunSet {
  /// The runs that hold the state at the begin of the one at an index, unless that is a base.
  func runs(before index: Int) -> ArraySlice<RunReader> {
    runs[(runs[..<index].lastIndex { $0.root.isBase } ?? 0)..<index]
  }

  /// Whether the runs before the one at an index have the keys of an owner, as far back as these are looked for.
  func haveKeys(of owner: KeyOwner, before index: Int) -> Bool {
    !owner.isMadeByProgram || runs(before: index).allSatisfy { $0.hasKeys(of: owner) }
  }

  /// Whether keys may be made of the rows of the runs in a range, which become one: those before it have the keys, and
  /// none after it has some that were made before.
  func mayMake(keysOf owner: KeyOwner, for range: Range<Int>, isBase: Bool) -> Bool {
    guard owner.isMadeByProgram else { return true }
    let after = runs[range.upperBound...].prefix { !$0.root.isBase }
    return !after.contains { $0.hasKeys(of: owner) }
      && (isBase || haveKeys(of: owner, before: range.lowerBound))
  }

  /// The run that is to be written again next because one lacks keys of some owners; nil if none does. The newest
  /// first: most reads are about the last events.
  func indexLackingKeys(of owners: [KeyOwner]) -> Int? {
    owners.compactMap { indexLackingKeys(of: $0) }.max()
  }

  /// Of keys that the program's code makes, the oldest of the runs from a base on are first, and before them later ones
  /// that have some, to lose them.
  private func indexLackingKeys(of owner: KeyOwner) -> Int? {
    guard let last = runs.lastIndex(where: { !$0.hasKeys(of: owner) }), owner.isMadeByProgram else {
      return runs.lastIndex { !$0.hasKeys(of: owner) }
    }
    let begin = runs[...last].lastIndex { $0.root.isBase } ?? 0
    let end = runs[(last + 1)...].firstIndex { $0.root.isBase } ?? runs.count
    let first = runs[begin...last].firstIndex { !$0.hasKeys(of: owner) } ?? last
    return runs[first..<end].lastIndex { $0.hasKeys(of: owner) } ?? first
  }
}
