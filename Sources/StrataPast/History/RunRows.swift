// Rows as they were after one event.

internal import StrataBase
internal import StrataTables

/// Looks rows up at one moment, and keeps a position in each run that is asked. Belongs to one thread at a time.
final class RunRows {
  /// The runs that hold the state, and the positions in them.
  private let runs: ArraySlice<RunReader>
  private var cursors: [Int: RunRowCursor] = [:]
  private let sequence: UInt64
  private let areThere: Bool

  /// - Parameter areThere: whether nearly all rows that are looked up are there. The first run is looked into for them
  ///   without its filter, which is read whole: a megabyte for a million rows.
  init(_ set: RunSet, at sequence: UInt64, areThere: Bool = false) {
    runs = set.runs(holding: sequence)
    self.sequence = sequence
    self.areThere = areThere
  }

  /// The newest version of a row at or before the moment, and its bytes, which are valid until the next call; nil if the
  /// row was never there. O(log n) for each run that has the row.
  ///
  /// - Parameter newest: a run that is known to have no version of the row at or before the moment; nor have those after
  ///   it. Nil if there is none.
  func version(
    of key: [UInt8], before newest: RunReader? = nil
  ) throws(PageDamage) -> (version: RunVersion, bytes: UnsafeRawBufferPointer)? {
    let hash = XXH64.of(key)
    let end = newest.flatMap { newest in runs.firstIndex { $0 === newest } } ?? runs.endIndex
    for index in (runs.startIndex..<end).reversed() {
      guard try mayContain(hash, index) else { continue }
      let cursor = cursors[index] ?? RunRowCursor(runs[index])
      cursors[index] = cursor
      let exists = try key.lendBytes { key throws(PageDamage) in
        try cursor.seek(key, through: sequence)
      }
      guard exists, let version = try cursor.version(through: sequence) else { continue }
      return (version, try cursor.bytes())
    }
    return nil
  }

  /// False if a run certainly lacks a row.
  private func mayContain(_ hash: UInt64, _ index: Int) throws(PageDamage) -> Bool {
    if areThere, index == runs.startIndex { return true }
    return try runs[index].mayContain(hash)
  }

  /// Asks the system for what is read of some rows, of all of them before any is waited for. Of a row, that is what the
  /// newest run has that may have it.
  func willRead(_ keys: [[UInt8]]) throws(PageDamage) {
    var rest = keys
    for index in runs.indices.reversed() where !rest.isEmpty {
      var (own, others): ([[UInt8]], [[UInt8]]) = ([], [])
      for key in rest {
        if try mayContain(XXH64.of(key), index) { own.append(key) } else { others.append(key) }
      }
      if !own.isEmpty { try RunTreeCursor.willRead(own, through: sequence, runs[index]) }
      rest = others
    }
  }
}
