// Walks over the events of a run, and the numbers of the rows that each changed.

internal import StrataBase
internal import StrataTables

/// A position in the changes of a run. Belongs to one thread at a time.
final class RunChangesCursor {
  private let root: RunRoot
  private var pages: RunTreeCursor
  private var page: RunRecord?
  @exclusivity(unchecked) private var cursor = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  @exclusivity(unchecked) private var nextSequence: UInt64
  @exclusivity(unchecked) private var time: Int64 = 0
  /// What was counted up to the event that was read last, from the run's begin on.
  @exclusivity(unchecked) private(set) var counts = RunCounts()
  /// The rows that the event changed.
  @exclusivity(unchecked) private(set) var rows: [UInt32] = []

  /// - Parameter length: see `RunTreeCursor`.
  init(_ reader: RunReader, sweeping length: Int? = nil) {
    root = reader.root
    pages = RunTreeCursor(reader, root.changes, sweeping: length)
    nextSequence = root.begin &+ 1
  }

  /// Goes to before an event; `next` then returns that one.
  func seek(_ sequence: UInt64) throws(PageDamage) {
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    guard let page = try pages.seek(.key(empty, sequence: sequence)) else { return }
    try begin(page)
    while nextSequence < sequence {
      guard try next(keepsRows: false) != nil else { throw PageDamage("a run lacks an event") }
    }
  }

  /// The next event; nil at the end of the run.
  func next() throws(PageDamage) -> RunEvent? { try next(keepsRows: true) }

  @inline(__always)
  private func next(keepsRows: Bool) throws(PageDamage) -> RunEvent? {
    if cursor.remaining == 0 {
      guard let page = try pages.next() else {
        guard nextSequence == root.end &+ 1, counts == root.counts else {
          throw PageDamage("a run has other events than its root says")
        }
        return nil
      }
      let (sequence, before) = (nextSequence, counts)
      try begin(page)
      guard nextSequence == sequence, counts == before else {
        throw PageDamage("the events of a run do not follow each other")
      }
    }
    guard let flags = cursor.varint(), flags >> 3 <= UInt64(cursor.remaining), nextSequence <= root.end else {
      throw PageDamage("an event of a run is broken")
    }
    if flags & RunChangesWriter.timeFlag != 0 {
      guard let distance = cursor.varint() else { throw PageDamage("an event has no time") }
      time = time &+ ZigZag.decode(distance)
    }
    rows.removeAll(keepingCapacity: true)
    for _ in 0..<flags >> 3 {
      guard let row = cursor.varint(), row < root.rowCount else {
        throw PageDamage("an event changed a row that its run does not have")
      }
      if keepsRows { rows.append(UInt32(row)) }
    }
    let event = RunEvent(
      sequence: nextSequence, time: time, endsAppend: flags & RunChangesWriter.endsAppendFlag != 0,
      hasFailed: flags & RunChangesWriter.failedFlag != 0)
    // They may wrap where bytes were forged: at its end a run is compared with its root.
    nextSequence &+= 1
    counts.changes &+= flags >> 3
    if event.endsAppend { counts.appends &+= 1 }
    if event.hasFailed { counts.failures &+= 1 }
    return event
  }

  private func begin(_ page: RunRecord) throws(PageDamage) {
    var cursor = page.cursor
    guard let distance = cursor.varint(), let appends = cursor.varint(), let failures = cursor.varint(),
      let changes = cursor.varint(), let time = cursor.integer(Int64.self), cursor.remaining > 0,
      distance > 0, distance <= root.end - root.begin, appends <= root.counts.appends,
      failures <= root.counts.failures, changes <= root.counts.changes
    else { throw PageDamage("a page of changes is broken") }
    self.page = page
    self.cursor = cursor
    self.time = time
    nextSequence = root.begin + distance
    counts = RunCounts(appends: appends, failures: failures, changes: changes)
  }
}
