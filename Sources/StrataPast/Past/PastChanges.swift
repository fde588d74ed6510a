// The rows of a table that events between two moments changed, with what they were at both.

internal import StrataBase
internal import StrataTables

/// Walks over them, in ascending order of their ids. Belongs to one thread at a time.
///
/// A run that changed a row has its versions: usually those of both moments, and then the row is found once.
final class PastChanges: KnownChanges {
  private let changed: RunChangedKeys
  private let table: UInt32
  private let (first, last): (UInt64, UInt64)
  private let isBackwards: Bool
  /// For rows that were last changed before the runs that changed them in between.
  private let (firstRows, lastRows): (RunRows, RunRows)
  private let noteDamage: @Sendable () -> Void
  private(set) var id: [UInt8] = []
  private(set) var old = KnownRow()
  private(set) var new = KnownRow()

  init(
    _ set: RunSet, table: UInt32, from old: UInt64, to new: UInt64, noteDamage: @escaping @Sendable () -> Void
  ) throws(PageDamage) {
    (self.table, self.noteDamage) = (table, noteDamage)
    (first, last, isBackwards) = (min(old, new), max(old, new), new < old)
    changed = try RunChangedKeys(set, after: first, through: last)
    (firstRows, lastRows) = (RunRows(set, at: first), RunRows(set, at: last))
  }

  /// Goes to the next row. False at the end; nil if the runs have lost something. Then the rows after this one are not
  /// known.
  func next() -> Bool? {
    do throws(PageDamage) {
      while try changed.next() {
        let key = changed.key
        guard key.withUnsafeBytes({ RunKey.table($0) }) == table else { continue }
        let (before, after) = try rows(key)
        id = Array(key[RunKey.tableLength...])
        (old, new) = isBackwards ? (after.known, before.known) : (before.known, after.known)
        return true
      }
      return false
    } catch {
      noteDamage()
      return nil
    }
  }

  private func rows(_ key: [UInt8]) throws(PageDamage) -> (first: RunRow, last: RunRow) {
    let ends = changed.ends
    var before = try row(ends.first, through: first)
    if before == nil {
      // A base has every row that was there at its begin, and before that no event changed this one. Of a delta, what is
      // before its first version is in older runs.
      let known = ends.first.isRest ? nil : ends.first.reader
      if known == nil || known?.root.isBase == false { before = try row(key, in: firstRows, before: known) }
    }
    var after = try row(ends.last, through: last)
    if after == nil { after = try row(key, in: lastRows) }
    return (before ?? RunRow(bytes: []), after ?? RunRow(bytes: []))
  }

  private func row(_ cursor: RunRowCursor, through sequence: UInt64) throws(PageDamage) -> RunRow? {
    if let known = cursor.version, known.sequence > sequence { return nil }
    let newer = try cursor.version(through: sequence)
    guard let version = newer ?? cursor.version else { return nil }
    return RunRow(version: version, bytes: Array(try cursor.bytes()))
  }

  private func row(
    _ key: [UInt8], in rows: RunRows, before newest: RunReader? = nil
  ) throws(PageDamage) -> RunRow {
    guard let (version, bytes) = try rows.version(of: key, before: newest) else { return RunRow(bytes: []) }
    return RunRow(version: version, bytes: Array(bytes))
  }
}
