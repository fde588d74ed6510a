// Merges the keys of an owner in neighbouring runs.

internal import StrataBase
internal import StrataLog

/// Streams the keys of one owner from several runs into a new one. Belongs to one thread at a time. In memory are a page
/// of each run, and the changes of the tallies.
final class KeyMerge {
  private let owner: KeyOwner
  private let below: [RunReader]
  private let merged: [RunReader]
  private let isBase: Bool
  private let output: RunOutput
  private let limits: RunLimits
  private var kinds: ArraySlice<KeyOwner.Kind>
  private var heads: [(cursor: KeyCursor, isThere: Bool)] = []
  private var writer: KeySetWriter?
  private var keys: OwnerKeys

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
  }

  /// Merges some keys. Returns all of them once they are written, and nil before that.
  func goOn(_ count: Int) throws(RunFailure) -> OwnerKeys? {
    for _ in 0..<count {
      guard let kind = kinds.first else { return keys }
      if writer == nil {
        try RunFailure.reading { () throws(StatePage.Damage) in try begin(kind) }
      }
      let record = try RunFailure.reading { () throws(StatePage.Damage) in try next() }
      do throws(StoreError) {
        if let record {
          if record.isAlive || !record.moments.isEmpty { try writer?.add(record) }
        } else if var ended = writer.take() {
          keys.sets.append(try ended.finish())
          kinds.removeFirst()
        }
      } catch { throw RunFailure(error) }
    }
    return nil
  }

  private func begin(_ kind: KeyOwner.Kind) throws(StatePage.Damage) {
    heads = []
    for run in below + merged {
      guard let set = try run.keySet(kind, of: owner) else {
        throw StatePage.Damage("a run lacks the keys that it is merged for")
      }
      var cursor = KeyCursor(set)
      let isThere = try cursor.next()
      heads.append((cursor, isThere))
    }
    writer = KeySetWriter(output, kind, begin: merged[0].root.begin, isBase: isBase, limits)
  }

  /// What all runs together say of the next key; nil at the end.
  private func next() throws(StatePage.Damage) -> KeyRecord? {
    var least: [UInt8]?
    for head in heads where head.isThere {
      guard let known = least else {
        least = head.cursor.key
        continue
      }
      if head.cursor.key.withUnsafeBytes({ a in known.withUnsafeBytes { a.order($0) < 0 } }) {
        least = head.cursor.key
      }
    }
    guard let key = least else { return nil }
    var record = KeyRecord()
    /// Whether the key is there at the end of what was read.
    var isAlive: Bool?
    for index in heads.indices where heads[index].isThere && heads[index].cursor.key == key {
      let part = try heads[index].cursor.record()
      guard isAlive == nil || isAlive == part.isAlive else {
        throw StatePage.Damage("a key is there in one run and not in the next")
      }
      let isAliveAtEnd = part.isAlive != (part.moments.count % 2 == 1)
      if isAlive == nil {
        (record.key, record.sectionLength, record.idLength) = (key, part.sectionLength, part.idLength)
      }
      if index < below.count {
        record.isAlive = isAliveAtEnd
      } else {
        if isAlive == nil { record.isAlive = part.isAlive }
        record.moments += part.moments
      }
      isAlive = isAliveAtEnd
      heads[index].isThere = try heads[index].cursor.next()
    }
    return record
  }
}
