// The tables of a past state with a kept list. Nothing of them is read before somebody looks into it.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension RunSet {
  /// The state after an event that the runs have, with a kept list; nil if a run does not have the list's keys. Reads the
  /// tallies of the keys of its rows, and all else once it is looked at. O(keys of rows / 256).
  func unreadTables(
    at sequence: UInt64, recordsTouches: Bool, keeping owner: KeyOwner, _ cache: PageCache,
    _ healing: PastHealing
  ) throws(PageDamage) -> TableSet? {
    guard let list = owner.list, let kept = list.definition.kept,
      runs(holding: sequence).allSatisfy({ $0.hasKeys(of: owner) }),
      let rowKeys = try KeysAt(self, .rows, of: .rows, at: sequence, healing.limits),
      let refused = try KeysAt(self, .refused, of: .rows, at: sequence, healing.limits)
    else { return nil }
    let moment = try moment(sequence)
    let failures = try allFailures(at: sequence, count: moment.failures)
    var made: [Table] = []
    for table in tables where table.first <= sequence {
      let prefix = RunKey.make(table.number, UnsafeRawBufferPointer(start: nil, count: 0))
      let end = RunKey.make(table.number + 1, UnsafeRawBufferPointer(start: nil, count: 0))
      let isListed = table.name.utf8.elementsEqual(list.table.utf8)
      let rows = try PastTree.make(
        of: rowKeys, prefix: prefix, end: end, pageSize: TreePages.table, bottomPageCount: 1,
        hasAll: tables.count == 1, isWanted: isListed, cache,
        healing.state.healing(table.name, .rows), noteDamage: healing.noteDamage, storedRows(at: sequence))
      let problems = try PastTree.make(
        of: refused, prefix: prefix, end: end, pageSize: Tree().pageSize, bottomPageCount: 1,
        hasAll: tables.count == 1, isWanted: isListed, cache,
        healing.state.healing(table.name, .problems), noteDamage: healing.noteDamage, reasons(at: sequence))
      let view = PastView(kept, of: rows, self, owner, at: sequence, cache, healing)
      made.append(
        Table(
          name: table.name, recordsTouches: recordsTouches, rows: rows, problems: problems,
          savedViews: isListed ? [view] : [],
          past: PastRows(rows, self, table: table.number, at: sequence, healing)))
    }
    return TableSet(
      sequence: sequence, time: moment.time, chain: nil, appendCount: moment.appends,
      recordsTouches: recordsTouches, tables: made, failures: failures)
  }

  private func storedRows(at sequence: UInt64) -> PastTree.Values {
    { (keys, body) throws(PageDamage) in
      let rows = RunRows(self, at: sequence, areThere: true)
      var stored: [UInt8] = []
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .document,
          bytes.count <= Tree.valueLengthMax - StoredRow.headLength
        else { throw PageDamage("a key is there without its row") }
        key.bytes.withUnsafeBytes { bytesOfKey in
          let row = RowView(
            id: RunKey.id(bytesOfKey), revision: version.sequence, created: version.created,
            time: version.time,
            document: bytes)
          StoredRow.write(row, to: &stored)
        }
        stored.withUnsafeBytes { body(key, $0) }
      }
    }
  }

  private func reasons(at sequence: UInt64) -> PastTree.Values {
    { (keys, body) throws(PageDamage) in
      let rows = RunRows(self, at: sequence, areThere: true)
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .problem else {
          throw PageDamage("a key is there without its row")
        }
        body(key, bytes)
      }
    }
  }
}
