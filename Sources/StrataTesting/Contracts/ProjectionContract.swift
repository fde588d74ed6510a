// What every projection must keep.

internal import StrataCheck
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataSimulation
internal import StrataPast
internal import StrataTables

/// The laws of a projection, each of which is a condition with a place of its own, so that shrinking keeps to one.
struct ProjectionContract<Checked: Projection>: Sendable {
  /// Makes a projection as a start of the program does.
  let make: @Sendable () -> Checked
  /// Looks at the rows of the tables that were named.
  let lookAtRows: @Sendable (TableSet) throws -> Void
  let mayFail: Bool

  nonisolated(nonsending) func hold(_ history: EventHistory) async throws {
    let store = EventStore.inMemory()
    try await history.append(to: store)
    let log = store.log
    let head = log.mark.sequence
    let whole = fold(log)
    try whole.run(through: head)

    let failures = whole.state.failures
    try ensure(
      mayFail || failures.count == 0,
      "it applies every event: \(failures.listed.first.map { "event \($0.sequence): \($0.what)" } ?? "")")

    let again = fold(log)
    try again.run(through: head)
    try ensureSame(again.state, whole.state, "it is pure", "folding the same events again")

    // Without decoded rows in memory, and with changed rows put into their tables at once.
    let single = Fold(log, .own(make()), keptRowCountMax: 0, unplacedCountMax: 1)
    var states: [TableSet] = []
    for sequence in 0..<head {
      states.append(single.state)
      try single.run(through: sequence + 1)
    }
    try ensureSame(single.state, whole.state, "it does not depend on batches", "folding each event alone")

    for state in states {
      let resumed = Fold(log, .own(make()), from: state)
      try resumed.run(through: head)
      try ensureSame(
        resumed.state, whole.state, "it does not depend on restarts",
        "a start with the tables after event \(state.sequence)")
    }
    try lookAtRows(whole.state)
    try await store.close()

    let projection = make()
    try await history.run(on: SimulatedDisk()) { store in
      // Tables of a projection are saved if the store was asked for them.
      _ = try await store.failures(of: projection)
      let isSame = try await store.verifyTables(of: projection)
      try ensure(
        isSame,
        "it does not depend on saved tables: those of the store at event \(store.head.sequence) differ")
    }
  }

  private func fold(_ log: Log) -> Fold { Fold(log, .own(make())) }

  private func ensureSame(
    _ state: TableSet, _ expected: TableSet, _ law: String, _ what: String, fileID: String = #fileID,
    line: Int = #line
  ) throws {
    guard let difference = state.firstDifference(from: expected) else { return }
    try ensure(false, "\(law): \(what) makes another state: \(difference)", fileID: fileID, line: line)
  }
}

extension TableSet {
  /// The first row or failure that differs from those of another state, in words; nil if there is none. O(bytes).
  func firstDifference(from other: TableSet) -> String? {
    let (mine, its) = (texts, other.texts)
    for key in Set(mine.keys).union(its.keys).sorted() where mine[key] != its[key] {
      return "\(key) is \(mine[key] ?? "absent"), and was \(its[key] ?? "absent")"
    }
    return failures == other.failures ? nil : "other events could not be applied"
  }

  /// The rows of all tables as text, by table and id.
  private var texts: [String: String] {
    var texts: [String: String] = [:]
    for table in tables {
      table.forEachRow { row in
        let document = try? DocumentValue(cbor: row.document)
        texts["\(table.name)/\(row.idText)"] =
          "\(document?.json() ?? "\(Array(row.document))") of event \(row.revision)"
      }
    }
    return texts
  }
}

extension TableKey {
  /// Expects that each row decodes, and encodes to the same document again.
  func lookAtRows(of set: TableSet) throws {
    for (id, document) in set.rows(ofTable: name) {
      let row: Row
      do { row = try CBORDecoder().decode(Row.self, from: document) } catch {
        try ensure(false, "every row decodes: \(name)/\(id) does not: \(error)")
        continue
      }
      let encoded = try CBOREncoder().encode(row)
      try ensure(
        encoded == document,
        "every row encodes as it was: \(name)/\(id) was \(text(document)), and is \(text(encoded)) when it is read and written"
      )
    }
  }

  private func text(_ document: [UInt8]) -> String {
    (try? DocumentValue(cbor: document).json()) ?? "\(document)"
  }
}

extension TableSet {
  fileprivate func rows(ofTable name: String) -> [(id: String, document: [UInt8])] {
    var rows: [(String, [UInt8])] = []
    if contains(name) { self[name].forEachRow { rows.append(($0.idText, Array($0.document))) } }
    return rows
  }
}
