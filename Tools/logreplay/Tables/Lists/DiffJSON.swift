// The changes between two lists as JSON.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Writes the canonical batch: `{"schema":1,"table":…,"from":{…},"to":{…},"changes":[…]}`, or one line per change. After
/// the changes come the rows of which only the revision differs, if there are any: `"revisions":[{"id":…,"revision":[old,
/// new]}]`, or a line with the op `revision` for each.
struct DiffJSON {
  let diff: ListComparison
  let fields: ShownFields
  /// How many changes are written at most; of more, the first ones are.
  var countMax = Int.max
  /// Whether a deletion has the row that was deleted, as an insertion has the new one.
  var hasDeletedRows = false

  /// Writes the whole object without a line feed.
  func write(to writer: inout OutputWriter) throws {
    var line = JSONLine(movingFrom: &writer.bytes)
    line.field("schema", 1 as UInt64)
    line.field("table", diff.new.table)
    Self.addEnds(diff, to: &line)
    line.raw("changes", "[".utf8)
    line.move(to: &writer.bytes)
    var isFirst = true
    var left = countMax
    try forEachChange { change in
      guard left > 0 else { return }
      left -= 1
      if !isFirst { writer.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      var line = JSONLine(movingFrom: &writer.bytes)
      add(change, to: &line)
      line.finish(to: &writer.bytes)
      try writer.flushIfLarge()
    }
    writer.bytes += "]".utf8
    try writeRevisions(to: &writer)
    writer.bytes += "}".utf8
  }

  private func writeRevisions(to writer: inout OutputWriter) throws {
    let revisions = RevisionChange.changes(from: diff.old.version, to: diff.new.version)
    guard !revisions.isEmpty else { return }
    writer.bytes += ",\"revisions\":[".utf8
    for (index, change) in revisions.enumerated() {
      if index > 0 { writer.bytes.append(UInt8(ascii: ",")) }
      var line = JSONLine(movingFrom: &writer.bytes)
      Self.add(change, to: &line)
      line.finish(to: &writer.bytes)
      try writer.flushIfLarge()
    }
    writer.bytes += "]".utf8
  }

  /// Writes one line per change.
  func writeLines(to writer: inout OutputWriter) throws {
    try forEachChange { change in
      var line = JSONLine(movingFrom: &writer.bytes)
      line.field("schema", 1 as UInt64)
      add(change, to: &line)
      line.finish(to: &writer.bytes)
      writer.bytes.append(UInt8(ascii: "\n"))
      try writer.flushIfLarge()
    }
    for change in RevisionChange.changes(from: diff.old.version, to: diff.new.version) {
      var line = JSONLine(movingFrom: &writer.bytes)
      line.field("schema", 1 as UInt64)
      line.field("op", "revision")
      Self.add(change, to: &line)
      line.finish(to: &writer.bytes)
      writer.bytes.append(UInt8(ascii: "\n"))
      try writer.flushIfLarge()
    }
  }

  private static func add(_ change: RevisionChange, to line: inout JSONLine) {
    line.field("id", change.id)
    line.raw("revision", "[\(change.old),\(change.new)]".utf8)
  }

  /// Adds `"from":{…},"to":{…}`: the two points, so that a program has the sequence, time, chain and count of each.
  static func addEnds(_ diff: ListComparison, to line: inout JSONLine) {
    for (name, state) in [("from", diff.old), ("to", diff.new)] as [(StaticString, ListState)] {
      var point = JSONLine()
      ListJSON.addPoint(of: state, to: &point)
      line.raw(name, point.finish())
    }
  }

  // MARK: Changes

  private enum Change {
    case deletion(ListDiff.Deletion)
    case sectionDeletion(ListDiff.SectionDeletion)
    case sectionInsertion(ListDiff.SectionInsertion)
    case sectionMove(ListDiff.SectionMove)
    case insertion(ListDiff.Insertion)
    case move(ListDiff.Move)
    case update(ListDiff.Update)
    case sectionUpdate(ListDiff.SectionUpdate)
  }

  /// Calls the body with all changes in the order of the output. Insertions and moves are merged by `to`, both for
  /// sections and for items.
  private func forEachChange(_ body: (Change) throws -> Void) throws {
    let batch = diff.batch
    for deletion in batch.deletions { try body(.deletion(deletion)) }
    for deletion in batch.sectionDeletions { try body(.sectionDeletion(deletion)) }
    try Self.merged(batch.sectionInsertions.map(\.to), batch.sectionMoves.map(\.to)) { isMove, index in
      try body(
        isMove ? .sectionMove(batch.sectionMoves[index]) : .sectionInsertion(batch.sectionInsertions[index]))
    }
    try Self.merged(batch.insertions.map(\.to), batch.moves.map(\.to)) { isMove, index in
      try body(isMove ? .move(batch.moves[index]) : .insertion(batch.insertions[index]))
    }
    for update in batch.updates { try body(.update(update)) }
    for update in batch.sectionUpdates { try body(.sectionUpdate(update)) }
  }

  /// Merges two ascending runs. The body receives whether the next element is from the second run, and its index there.
  private static func merged<Place: Comparable>(
    _ first: [Place], _ second: [Place], _ body: (_ isSecond: Bool, _ index: Int) throws -> Void
  ) rethrows {
    var (i, j) = (0, 0)
    while i < first.count || j < second.count {
      if j == second.count || (i < first.count && first[i] < second[j]) {
        try body(false, i)
        i += 1
      } else {
        try body(true, j)
        j += 1
      }
    }
  }

  private func add(_ change: Change, to line: inout JSONLine) {
    switch change {
    case .deletion(let change):
      line.field("op", "delete")
      line.field("id", change.id)
      line.position("from", change.from)
      if hasDeletedRows { diff.old.withRow(change.id) { add($0, to: &line) } }
    case .sectionDeletion(let change):
      line.field("op", "deleteSection")
      line.field("section", diff.new.section(change.section))
      line.field("from", change.from)
    case .sectionInsertion(let change):
      line.field("op", "insertSection")
      line.field("section", diff.new.section(change.section))
      line.field("to", change.to)
      line.field("count", change.count)
      diff.new.results(inSectionAt: change.to).add(to: &line)
    case .sectionMove(let change):
      line.field("op", "moveSection")
      line.field("section", diff.new.section(change.section))
      line.field("from", change.from)
      line.field("to", change.to)
    case .insertion(let change):
      line.field("op", "insert")
      line.field("id", change.id)
      line.position("to", change.to)
      diff.new.withRow(change.id) { add($0, to: &line) }
    case .move(let change):
      line.field("op", "move")
      line.field("id", change.id)
      line.position("from", change.from)
      line.position("to", change.to)
      if change.isChanged { addRowChange(change.id, to: &line) }
    case .update(let change):
      line.field("op", "update")
      line.field("id", change.id)
      line.position("from", change.from)
      line.position("to", change.to)
      addRowChange(change.id, to: &line)
    case .sectionUpdate(let change):
      line.field("op", "updateSection")
      line.field("section", diff.new.section(change.section))
      line.field("to", change.to)
      line.field("count", change.count)
      diff.new.results(inSectionAt: change.to)
        .addChanges(since: diff.old.results(inSectionAt: change.from), to: &line)
    }
  }

  /// Adds `"revision":N,"fields":{…}`.
  private func add(_ row: RowView?, to line: inout JSONLine) {
    guard let row else { return }
    line.field("revision", row.revision)
    line.field("fields", .object(fields.fields(of: row)))
  }

  /// Adds `"revision":[old,new],"fields":{"name":{"old":V,"new":V}}`; a side is left out if the field is absent there.
  private func addRowChange(_ id: String, to line: inout JSONLine) {
    let change = diff.rowChange(id, fields)
    line.raw("revision", "[\(change.oldRevision),\(change.newRevision)]".utf8)
    line.raw("fields", "{".utf8)
    for (index, field) in change.fields.enumerated() {
      if index > 0 { line.append(byte: UInt8(ascii: ",")) }
      line.append(name: field.name)
      var sides = JSONLine()
      if let old = field.old { sides.field("old", old) }
      if let new = field.new { sides.field("new", new) }
      line.append(bytes: sides.finish())
    }
    line.append(byte: UInt8(ascii: "}"))
  }
}

extension JSONLine {
  /// Adds `"name":[section,item]`.
  fileprivate mutating func position(_ name: StaticString, _ position: ListIndex) {
    raw(name, "[\(position.section),\(position.item)]".utf8)
  }
}
