// What a state answers, to be compared with what the log says.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables

/// All that a state says.
struct StateAnswers: Equatable {
  struct Row: Equatable {
    var id: [UInt8]
    var revision: UInt64
    var created: UInt64
    var time: Int64
    var document: [UInt8]
  }

  struct Table: Equatable {
    var name: String
    var rows: [Row]
    var problems: [[UInt8]]
  }

  var sequence: UInt64
  var time: Int64?
  var chain: UInt64?
  var appendCount: UInt64
  var hash: UInt64
  var tables: [Table]
  var failures: ProjectionFailures

  /// - Parameter store: the store with the log that the state was made of.
  init(_ set: TableSet, of store: EventStore) throws {
    sequence = set.sequence
    time = set.time
    chain = try set.chain ?? store.log.chain(after: set.sequence)
    appendCount = set.appendCount
    hash = set.stateHash
    tables = set.tables.filter(\.isWritten).map(Table.init)
    failures = set.failures
  }

  /// The answers of the log, folded from its beginning.
  init(folding: Folding, of store: EventStore) throws {
    let fold = Fold(store.log, folding)
    try fold.run(through: .max)
    try self.init(fold.state, of: store)
  }

  /// The first difference; nil if there is none.
  func difference(from expected: StateAnswers) -> String? {
    if self == expected { return nil }
    if sequence != expected.sequence { return "sequence \(sequence), not \(expected.sequence)" }
    if time != expected.time { return "time \(time as Any), not \(expected.time as Any)" }
    if chain != expected.chain { return "chain \(chain as Any), not \(expected.chain as Any)" }
    if appendCount != expected.appendCount { return "\(appendCount) appends, not \(expected.appendCount)" }
    if failures != expected.failures { return "failures \(failures), not \(expected.failures)" }
    let (names, expectedNames) = (tables.map(\.name), expected.tables.map(\.name))
    if names != expectedNames { return "tables \(names), not \(expectedNames)" }
    for (table, other) in zip(tables, expected.tables) where table != other {
      if table.problems != other.problems { return "problems of \(table.name)" }
      if table.rows.map(\.id) != other.rows.map(\.id) { return "ids of \(table.name)" }
      for (row, wanted) in zip(table.rows, other.rows) where row != wanted {
        let id = String(decoding: row.id, as: UTF8.self)
        return """
          row \(id) of \(table.name): revision \(row.revision), created \(row.created), time \(row.time), \
          \(row.document.count) bytes, not \(wanted.revision), \(wanted.created), \(wanted.time), \
          \(wanted.document.count)
          """
      }
    }
    return "hash \(hash), not \(expected.hash)"
  }
}

extension StateAnswers.Table {
  init(_ table: Table) {
    name = table.name
    rows = []
    problems = []
    table.forEachRow { row in
      rows.append(
        StateAnswers.Row(
          id: Array(row.id), revision: row.revision, created: row.created, time: row.time,
          document: Array(row.document)))
    }
    table.problems.forEach(in: 0..<table.problems.count) { id, what in
      problems.append(Array(id) + [0] + Array(what))
    }
  }
}

extension EventStore {
  /// The newest state of a projection differs from the log, folded from its beginning; nil if it does not.
  func difference(of folding: Folding) async throws -> String? {
    let set = try await projector(folding).state(reaching: head.sequence)
    return try StateAnswers(set, of: self).difference(from: StateAnswers(folding: folding, of: self))
  }
}
