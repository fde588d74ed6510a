// The rows of a range of keys, as they were after an event, as trees.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Builds the trees of one part of a state. Belongs to one thread at a time.
final class RunTablesPart: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.

  /// Keys of rows, from the first one on and before the end.
  struct Keys {
    /// Nil for no bound.
    var first: [UInt8]?
    var end: [UInt8]?
  }

  /// The trees of one table.
  struct Trees {
    var rows = Tree(pageSize: TreePages.table)
    var problems = Tree()
  }

  /// What all parts of a state have in common.
  struct Plan {
    let runs: [RunReader]
    let sequence: UInt64
    /// Whether there was a table by then, by its number.
    let isKnown: [Bool]
    let limits: RunLimits
  }

  /// About the most rows of a part.
  fileprivate static let rowCountMax: UInt64 = 65_536
  /// Rows between two looks at the slice.
  private static let stepCount = 512

  let keys: Keys
  private let plan: Plan
  /// Nil before the begin and after the end, so that only parts that are being read have pages in memory.
  private var heads: RunHeads?
  /// For each run, the number of its first row in the part, and of its first row after it. Empty before they are known.
  private(set) var begin: [UInt64] = []
  private(set) var end: [UInt64] = []
  /// By the numbers of their tables.
  private var trees: [UInt32: Trees] = [:]
  /// The table whose rows are being read.
  private var table: UInt32 = 0
  private var rows = Tree.Builder(pageSize: TreePages.table)
  private var problems = Tree.Builder(pageSize: Tree().pageSize)
  private var stored: [UInt8] = []
  private(set) var isComplete = false
  private(set) var isSpilled = false

  init(_ keys: Keys, _ plan: Plan) {
    self.keys = keys
    self.plan = plan
  }

  /// The trees of a table, once the part is complete.
  func trees(of table: UInt32) -> Trees { trees[table] ?? Trees() }

  /// Goes on for a slice. Returns true once the part is complete.
  func resume(_ slice: TimeSlice?) throws(PageDamage) -> Bool {
    var heads = try takeHeads()
    while true {
      for _ in 0..<Self.stepCount {
        guard try heads.next(), isBeforeEnd(heads.first.key) else {
          endTable()
          end = heads.rowNumbers
          isComplete = true
          return true
        }
        try addRow(heads)
      }
      guard slice?.isOver ?? false else { continue }
      self.heads = heads
      return false
    }
  }

  private func takeHeads() throws(PageDamage) -> RunHeads {
    if let known = heads {
      heads = nil
      return known
    }
    let heads = try RunHeads(plan.runs, from: keys.first, plan.limits)
    begin = heads.rowNumbers
    return heads
  }

  private func isBeforeEnd(_ key: [UInt8]) -> Bool {
    keys.end.map { key.isBefore($0) } ?? true
  }

  private func addRow(_ heads: RunHeads) throws(PageDamage) {
    var found: (version: RunVersion, cursor: RunRowCursor)?
    for index in heads.current.reversed() where found == nil {
      let cursor = heads.sources[index]
      if let version = try cursor.version(through: plan.sequence) { found = (version, cursor) }
    }
    guard let (version, cursor) = found, version.kind != .gone else { return }
    let number = cursor.key.withUnsafeBytes { RunKey.table($0) }
    guard number < plan.isKnown.count, plan.isKnown[Int(number)] else {
      throw PageDamage("a row is of a table that was not there")
    }
    if number != table { endTable() }
    table = number
    let bytes = try cursor.bytes()
    guard cursor.key.count - RunKey.tableLength <= Tree.keyLengthMax,
      bytes.count <= Tree.valueLengthMax - StoredRow.headLength
    else { throw PageDamage("a row of a run is too long") }
    cursor.key.withUnsafeBytes { key in
      let id = RunKey.id(key)
      if version.kind == .problem { return problems.append(id, bytes) }
      StoredRow.write(
        RowView(
          id: id, revision: version.sequence, created: version.created, time: version.time,
          document: bytes),
        to: &stored)
      stored.withUnsafeBytes { rows.append(id, $0) }
    }
  }

  private func endTable() {
    var ended = Tree.Builder(pageSize: TreePages.table)
    var endedProblems = Tree.Builder(pageSize: Tree().pageSize)
    swap(&ended, &rows)
    swap(&endedProblems, &problems)
    trees[table] = Trees(rows: ended.finish(), problems: endedProblems.finish())
  }
}

// MARK: In a file

extension RunTablesPart {
  /// The bytes of the leaves of a complete part that are in memory only.
  func leafBytes() -> Int {
    var bytes = 0
    // A copy of the trees would have their pages too, and so would the keys of the dictionary while it is walked over.
    for table in Array(trees.keys) {
      bytes += trees[table]?.rows.ownLeafBytes() ?? 0
      bytes += trees[table]?.problems.ownLeafBytes() ?? 0
    }
    return bytes
  }

  /// Moves the leaves of a complete part to a file.
  ///
  /// - Parameter healing: what makes pages of the whole state.
  func spill(to file: SpillFile, _ tables: [RunTable], _ healing: StateHealing) throws(StoreError) {
    isSpilled = true
    for table in tables {
      guard var made = trees.removeValue(forKey: table.number) else { continue }
      defer { trees[table.number] = made }
      try file.spill(&made.rows, &made.problems, of: table.name, healing)
    }
  }
}

extension RunTablesPart.Plan {
  /// Parts that together have a range of keys: neighbours, and each about as long as the others.
  func parts(of keys: RunTablesPart.Keys, countMax: Int) throws(PageDamage) -> [RunTablesPart] {
    guard let longest = runs.max(by: { $0.root.rowCount < $1.root.rowCount }) else { return [] }
    let cursor = RunRowCursor(longest)
    let first = try keys.first.map { (key) throws(PageDamage) in try cursor.number(ofFirst: key) } ?? 0
    let end =
      try keys.end.map { (key) throws(PageDamage) in try cursor.number(ofFirst: key) }
      ?? longest.root.rowCount
    guard first <= end else { throw PageDamage("the rows of a run are not numbered in order") }
    let rowCount = end - first
    let countMax = max(UInt64(countMax), rowCount / RunTablesPart.rowCountMax)
    let count = max(1, min(countMax, rowCount / UInt64(max(1, limits.partRowCountMin))))
    var parts: [RunTablesPart] = []
    var begin = keys.first
    for number in 1..<count {
      guard try cursor.seek(number: first + rowCount * number / count) else {
        throw PageDamage("the rows of a run are not numbered in order")
      }
      guard (begin ?? []).isBefore(cursor.key), keys.end.map({ cursor.key.isBefore($0) }) ?? true else {
        throw PageDamage("the rows of a run do not ascend")
      }
      parts.append(RunTablesPart(RunTablesPart.Keys(first: begin, end: cursor.key), self))
      begin = cursor.key
    }
    parts.append(RunTablesPart(RunTablesPart.Keys(first: begin, end: keys.end), self))
    return parts
  }
}
