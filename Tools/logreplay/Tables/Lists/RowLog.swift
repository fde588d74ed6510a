// `log --row`: the versions of one row, the events that made them, and what each of them changed.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The row that `--row` names.
struct RowName: Sendable {
  var table: String
  var id: String

  init(_ text: String) throws(CommandFailure) {
    let stream = StreamName(text)
    guard text.utf8.contains(UInt8(ascii: "/")), !stream.category.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "'\(text)' is not a row", at: "--row", next: "write TABLE/ID, as in incident/1-42")
    }
    (table, id) = (stream.category, stream.id)
  }

  var text: String { "\(table)/\(id)" }
}

/// One version of a row, and the event that made it.
struct RowStep {
  var event: RecordedEvent
  var append: RecordedAppend
  /// Whether the row exists after the event.
  var exists: Bool
  /// Why there is no row, if the event could not be applied.
  var problem: String?
  /// The fields that differ from the version before.
  var changes: [FieldChange]
}

/// The versions of one row in a range of the log. Blocks; belongs to one thread.
struct RowLog {
  private(set) var steps: [RowStep] = []
  /// The fields at the end of the range, in their order, with the events that gave them their values.
  private(set) var origins: [(field: FieldOrigin, event: RecordedEvent)] = []
  /// Where the versions came from.
  let past: PastCounts

  /// Reads all versions up to the end of the range. O(events of the row).
  init(_ opened: OpenedStore, _ row: RowName, _ range: EventRange) throws {
    let counter = PastCounter()
    let versions: [RowVersion<DocumentRow>]
    do throws(StoreError) {
      versions = try opened.store.documentHistoryBlocking(row.id, of: row.table, counting: counter)
    } catch { throw opened.failure(error) }
    past = counter.counts
    guard !versions.isEmpty else {
      try opened.throwDamage()
      if let erasure = try RowErasure(of: row, in: opened) { throw erasure.failure }
      try StoreTables(opened: opened).check(row.table)
      throw CommandFailure(
        ExitStatus.notFound, "there never was a row \(row.text)", at: opened.path,
        next: "`logreplay at \(opened.path) --table '\(row.table)'` shows the rows that there are")
    }
    let shown = versions.filter { $0.sequence <= range.through ?? .max }
    var fields = DocumentObject()
    for version in shown {
      let new = version.item?.fields ?? [:]
      defer { fields = new }
      guard version.sequence > range.after else { continue }
      let (event, append) = try Self.event(version.sequence, in: opened)
      guard range.hasTime(of: event) else { continue }
      steps.append(
        RowStep(
          event: event, append: append, exists: version.item != nil, problem: version.problem,
          changes: FieldChange.changes(from: fields, to: new)))
    }
    for origin in FieldOrigin.origins(in: shown) {
      origins.append((origin, try Self.event(origin.sequence, in: opened).0))
    }
    if let count = range.last { steps = steps.suffix(count) }
    if range.isReversed { steps.reverse() }
    if let count = range.countMax { steps = Array(steps.prefix(count)) }
  }

  private static func event(
    _ sequence: UInt64, in opened: OpenedStore
  ) throws -> (RecordedEvent, RecordedAppend) {
    let append: RecordedAppend?
    do throws(StoreError) { append = try opened.store.appendBlocking(holding: sequence) } catch {
      throw opened.failure(error)
    }
    guard let append, let event = append.events.first(where: { $0.sequence == sequence }) else {
      throw opened.failure(.closed)
    }
    return (event, append)
  }
}
