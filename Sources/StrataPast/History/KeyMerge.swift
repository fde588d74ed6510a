// Merges the keys of an owner in neighbouring runs.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Streams the keys of one owner from several runs into a new one. Belongs to one thread at a time. In memory are of
/// each run a part of the directory, a page and the moments of a group, and the changes of the tallies.
final class KeyMerge {
  private let owner: KeyOwner
  private let below: [RunReader]
  private let merged: [RunReader]
  private let isBase: Bool
  private let output: RunOutput
  private let limits: RunLimits
  private var kinds: ArraySlice<KeyOwner.Kind>
  // One thread at a time uses it, so the checks of exclusive access are left out of what each key changes.
  @exclusivity(unchecked) private var heads: [(cursor: KeyRecordCursor, isThere: Bool)] = []
  /// The runs that have the current key, in order.
  @exclusivity(unchecked) private var current: [Int] = []
  @exclusivity(unchecked) private var record = KeyRecord()
  @exclusivity(unchecked) private var writer: KeySetWriter?
  private var keys: OwnerKeys
  private let isOfList: Bool
  private let isFirstBase: Bool
  /// For a list, the bases among all runs, but for the first run: each has all keys that are there at its begin.
  private let bases: [Int]
  /// Whether a run has keys that do not fit those before it.
  private var isContradicted = false

  /// - Parameters:
  ///   - below: for a new base, the runs that hold the state at the begin of those that are merged, from a base on.
  init(
    _ owner: KeyOwner, _ merged: [RunReader], onto below: [RunReader], isBase: Bool, _ output: RunOutput,
    _ limits: RunLimits
  ) {
    (self.owner, self.merged, self.below, self.isBase) = (owner, merged, below, isBase)
    (self.output, self.limits) = (output, limits)
    kinds = owner.kinds[...]
    keys = OwnerKeys(owner: owner.number)
    let (isOfList, runs) = (owner.number != KeyOwner.rows.number, below + merged)
    (self.isOfList, isFirstBase) = (isOfList, runs[0].root.isBase)
    bases = runs.indices.dropFirst().filter { isOfList && runs[$0].root.isBase }
  }

  /// Merges some keys.
  func goOn(_ count: Int) throws(RunFailure) -> KeyProgress {
    for _ in 0..<count {
      guard let kind = kinds.first else { return .done(keys) }
      if writer == nil {
        try RunFailure.reading { () throws(StatePage.Damage) in try begin(kind) }
      }
      let isThere = try RunFailure.reading { () throws(StatePage.Damage) in try next() }
      if isContradicted { return .contradicted }
      do throws(StoreError) {
        if isThere {
          if record.isAlive || !record.moments.isEmpty { try writer?.add(record) }
        } else if var ended = writer.take() {
          keys.sets.append(try ended.finish())
          kinds.removeFirst()
        }
      } catch { throw RunFailure(error) }
    }
    return .paused
  }

  private func begin(_ kind: KeyOwner.Kind) throws(StatePage.Damage) {
    (heads, current) = ([], [])
    for run in below + merged {
      guard let set = try run.keySet(kind, of: owner) else {
        throw StatePage.Damage("a run lacks the keys that it is merged for")
      }
      var cursor = KeyRecordCursor(set)
      let isThere = try cursor.next()
      heads.append((cursor, isThere))
    }
    writer = KeySetWriter(output, kind, begin: merged[0].root.begin, isBase: isBase, limits)
  }

  /// Goes to the next key, with what all runs together say of it. False at the end, and where runs contradict each
  /// other.
  private func next() throws(StatePage.Damage) -> Bool {
    for index in current { heads[index].isThere = try heads[index].cursor.next() }
    current.removeAll(keepingCapacity: true)
    for index in heads.indices where heads[index].isThere {
      guard let first = current.first else {
        current.append(index)
        continue
      }
      // Without a copy of either.
      let order = heads.withUnsafeBufferPointer { $0[index].cursor.order($0[first].cursor) }
      if order < 0 { current.removeAll(keepingCapacity: true) }
      if order <= 0 { current.append(index) }
    }
    guard let first = current.first else { return false }
    heads[first].cursor.begin(&record)
    /// The last run that has the key, and whether it is there at its end.
    var last: (index: Int, isAlive: Bool)?
    for index in current {
      let isAliveAtBegin = heads[index].cursor.isAliveAtBegin
      guard fits(isAliveAtBegin, index, after: last) else { return try contradict() }
      let known = record.moments.count
      heads[index].cursor.addMoments(to: &record)
      let isAliveAtEnd = isAliveAtBegin != ((record.moments.count - known) % 2 == 1)
      if index < below.count {
        // Of what was before, only the end counts.
        record.moments.removeAll(keepingCapacity: true)
        record.isAlive = isAliveAtEnd
      } else if last == nil {
        record.isAlive = isAliveAtBegin
      }
      last = (index, isAliveAtEnd)
    }
    if let last, last.isAlive, bases.contains(where: { $0 > last.index }) { return try contradict() }
    return true
  }

  /// Whether what a run says of a key at its begin goes on with what the last one says that has the key.
  private func fits(_ isAliveAtBegin: Bool, _ index: Int, after last: (index: Int, isAlive: Bool)?) -> Bool {
    guard let last else {
      // A first base begins with itself, and a first delta with runs that are not merged.
      return !isOfList || !isAliveAtBegin || !isBase || (index == 0 && isFirstBase)
    }
    guard last.isAlive == isAliveAtBegin else { return false }
    return !last.isAlive || !bases.contains { $0 > last.index && $0 < index }
  }

  /// Ends the merge. Keys of rows contradict each other only if a run is damaged.
  private func contradict() throws(StatePage.Damage) -> Bool {
    guard isOfList else { throw StatePage.Damage("a key is there in one run and not in the next") }
    isContradicted = true
    return false
  }
}
