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
  @exclusivity(unchecked) private var heads: SortedMerge<KeyRecordCursor>?
  @exclusivity(unchecked) private var record = KeyRecord()
  @exclusivity(unchecked) private var writer: KeySetWriter?
  private var keys: OwnerKeys

  /// - Parameters:
  ///   - below: for a new base, the runs that hold the state at the begin of those that are merged, from a base on.
  init(
    _ owner: KeyOwner, _ merged: [RunReader], onto below: [RunReader], isBase: Bool, _ output: RunOutput,
    _ limits: RunLimits
  ) {
    assert(!merged.isEmpty && (isBase || below.isEmpty), "only a base has what was there before its runs")
    (self.owner, self.merged, self.below, self.isBase) = (owner, merged, below, isBase)
    (self.output, self.limits) = (output, limits)
    kinds = owner.kinds[...]
    keys = OwnerKeys(owner: owner.number)
  }

  /// Merges some keys. Returns all of them once they are written. Throws `otherKeys` where those of a list do not go on from
  /// run to run: of two bases, each may have been written again with keys that were made at another time.
  func step(_ count: Int) throws(RunFailure) -> OwnerKeys? {
    for _ in 0..<count {
      guard let kind = kinds.first else { return keys }
      if writer == nil {
        try RunFailure.reading { () throws(PageDamage) in try begin(kind) }
      }
      let exists = try next()
      do throws(StoreError) {
        if exists {
          if record.isAlive || !record.moments.isEmpty { try writer?.add(record) }
        } else if var ended = writer.take() {
          keys.sets.append(try ended.finish())
          kinds.removeFirst()
        }
      } catch { throw RunFailure(error) }
    }
    return nil
  }

  private func begin(_ kind: KeyOwner.Kind) throws(PageDamage) {
    var cursors: [KeyRecordCursor] = []
    for run in below + merged {
      guard let set = try run.keySet(kind, of: owner) else {
        throw PageDamage("a run lacks the keys that it is merged for")
      }
      cursors.append(KeyRecordCursor(set))
    }
    heads = try SortedMerge(cursors)
    writer = KeySetWriter(output, kind, begin: merged[0].root.begin, isBase: isBase, limits)
  }

  /// Goes to the next key, with what all runs together say of it. False at the end.
  private func next() throws(RunFailure) -> Bool {
    let exists = try RunFailure.reading { () throws(PageDamage) in try heads?.next() ?? false }
    guard exists, let heads else { return false }
    heads.first.begin(&record)
    /// Whether the key is there at the end of the last run that has it.
    var last: Bool?
    for index in heads.current {
      let isAliveAtBegin = heads.sources[index].isAliveAtBegin
      // A key that is there before all that say something of it is a first base's own, or one of runs that are not read.
      guard last.map({ $0 == isAliveAtBegin }) ?? (!isAliveAtBegin || !isBase || index == 0) else {
        guard owner.number == KeyOwner.rows.number else { throw .otherKeys(owner) }
        throw RunFailure(PageDamage("a key is there in one run and not in the next"))
      }
      let known = record.moments.count
      heads.sources[index].addMoments(to: &record)
      let isAliveAtEnd = isAliveAtBegin != ((record.moments.count - known) % 2 == 1)
      if index < below.count {
        // Of what was before, only the end counts.
        record.moments.removeAll(keepingCapacity: true)
        record.isAlive = isAliveAtEnd
      } else if last == nil {
        record.isAlive = isAliveAtBegin
      }
      last = isAliveAtEnd
    }
    return true
  }
}
