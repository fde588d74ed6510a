// Resolves points to sequences of a store.

internal import LogreplayPoints
internal import StrataEvents
internal import StrataLog

/// A point's position in the log.
struct ResolvedPoint: Hashable, Sendable {
  /// The last sequence that the point includes; 0 before the first event.
  var sequence: UInt64
  /// The own time of the append that holds the sequence; nil at 0.
  var time: Timestamp?
  /// The sequences of the append that holds the sequence, if the sequence is not its last.
  var inside: ClosedRange<UInt64>?
  /// What a point by time passes over: the appends before it that are dated later.
  var later: LaterAppends?

  init(
    sequence: UInt64, time: Timestamp? = nil, inside: ClosedRange<UInt64>? = nil, later: LaterAppends? = nil
  ) {
    (self.sequence, self.time, self.inside, self.later) = (sequence, time, inside, later)
  }

  init(_ append: AppendPlace) {
    self.init(sequence: append.last, time: Timestamp(nanoseconds: append.ownTime))
  }
}

/// Resolves points in an open store. Blocks; belongs to one thread.
final class PointResolver {
  let store: OpenedStore
  /// Whether some resolved point depends on where the log ends: the head, points counted from it, and times or id
  /// prefixes that an append past the visible end might match. If the log is damaged there, the result describes an
  /// incomplete log.
  private(set) var dependsOnEnd = false

  init(store: OpenedStore) { self.store = store }

  private var log: Log { store.log }

  /// The most ids listed in the error for an ambiguous prefix.
  private static let idsShownMax = 5

  /// Resolves a point and prints the result on standard error, unless the point is already a sequence.
  func resolve(_ named: PointRange.Named) throws -> ResolvedPoint {
    let found = try resolve(named.point, text: named.text)
    if case .sequence = named.point {} else { Terminal.note(Self.echo(named.text, found)) }
    if let inside = found.inside {
      Terminal.note("seq \(found.sequence) is inside the append \(inside.lowerBound)…\(inside.upperBound)")
    }
    return found
  }

  /// The visible end, used if no point is given.
  func head() throws -> ResolvedPoint {
    dependsOnEnd = true
    return try place(log.mark.sequence, "head")
  }

  /// The point that a cursor names. Throws if the log up to there is not the one that the cursor was taken from.
  func point(of position: LogPosition) throws -> ResolvedPoint {
    try check(position)
    return try place(position.sequence, "the cursor")
  }

  /// The point before the first event of the log.
  var beginning: ResolvedPoint { ResolvedPoint(sequence: log.mark.logBegin - 1) }

  /// `2h ago → seq 18234 (2026-11-20T21:15:03.120Z)`, and what a point by time passes over.
  static func echo(_ text: String, _ point: ResolvedPoint) -> String {
    let place = point.time.map { PeopleText.utc($0) } ?? "before the first event"
    let echo = "\(PeopleText.printable(text)) → seq \(point.sequence) (\(place))"
    guard let later = point.later else { return echo }
    return "\(echo); \(later.text(before: "it"))"
  }

  private func resolve(_ point: Point, text: String) throws -> ResolvedPoint {
    let mark = log.mark
    switch point {
    case .sequence(let sequence):
      return try place(sequence, text)
    case .head:
      dependsOnEnd = true
      return try place(mark.sequence, text)
    case .back(let count):
      dependsOnEnd = true
      guard count <= mark.appends else { throw missing("\(text) is before the beginning of the log") }
      if count == mark.appends { return try place(0, text) }
      guard
        let append = try failing({ () throws(StoreError) in try log.append(ordinal: mark.appends - count) })
      else { throw missing("\(text) is before the beginning of the log") }
      return ResolvedPoint(append)
    case .first:
      guard mark.sequence >= mark.logBegin else { throw missing("the store is empty") }
      return try place(mark.logBegin, text)
    case .time(let time):
      var search = TimeSearch(log, notAfter: time)
      guard let append = try failing({ () throws(StoreError) in try search.last() }) else {
        return ResolvedPoint(sequence: mark.logBegin - 1)
      }
      var point = ResolvedPoint(append)
      point.later = try failing { () throws(StoreError) in try search.passed(before: append) }
      // As long as all clocks ran forward, a later append with a later time shows that no other append matches.
      if append.last == mark.sequence || point.later != nil { dependsOnEnd = true }
      return point
    case .id(let id):
      return try find(id: id)
    case .cursor(let position):
      try check(position)
      return try place(position.sequence, text)
    case .mark(let name):
      throw missing("there is no mark '\(name)': this version has no marks")
    }
  }

  private func place(_ sequence: UInt64, _ text: String) throws -> ResolvedPoint {
    if sequence == log.mark.logBegin - 1 { return ResolvedPoint(sequence: sequence) }
    guard let append = try failing({ () throws(StoreError) in try log.append(holding: sequence) }) else {
      throw missing("seq \(sequence) is not in the log")
    }
    return ResolvedPoint(
      sequence: sequence, time: Timestamp(nanoseconds: append.ownTime),
      inside: sequence < append.last ? append.first...append.last : nil)
  }

  /// Throws if the log up to a position is not the one that the position was taken from.
  func check(_ position: LogPosition) throws {
    let mark = log.mark
    if position.sequence > mark.sequence { try store.throwDamage() }
    if position.sequence < mark.logBegin - 1 {
      throw store.failure(StoreError.trimmed(firstAvailable: mark.logBegin))
    }
    let chain = try failing { () throws(StoreError) in try log.chain(after: position.sequence) }
    guard chain == position.chain else {
      var failure = store.failure(StoreError.diverged(sequence: position.sequence))
      failure.next = "read the log again from a sequence that both have; \(available)"
      throw failure
    }
  }

  private func find(id: String) throws -> ResolvedPoint {
    if let place = try failing({ () throws(StoreError) -> AppendPlace? in
      guard let first = try log.index.first(ofID: Array(id.utf8)) else { return nil }
      return try log.append(holding: first)
    }) {
      return ResolvedPoint(place)
    }
    let ids = try failing { () throws(StoreError) in
      try log.index.ids(prefix: Array(id.utf8), limit: Self.idsShownMax + 1)
    }
    let names = ids.map { String(decoding: $0, as: UTF8.self) }.sorted()
    guard let only = names.first else { throw missing("no append has an id that begins with '\(id)'") }
    guard names.count == 1 else {
      let shown = names.prefix(Self.idsShownMax).map { "id:\(PeopleText.printable($0))" }
      throw CommandFailure(
        ExitStatus.notFound, "several appends have an id that begins with '\(id)'", at: "id:\(id)",
        next: "give one of them in full: " + shown.joined(separator: ", ")
          + (names.count > shown.count ? ", …" : ""))
    }
    dependsOnEnd = true
    return try find(id: only)
  }

  /// A sequence up to which all appends have times before a given one: those that were committed before it.
  func sequence(committedBefore time: Int64) throws -> UInt64 {
    guard time > .min else { return log.mark.logBegin - 1 }
    return sequence(
      of: try failing { () throws(StoreError) in
        try log.lastAppend(committedNotAfter: time - 1, in: log.mark)
      })
  }

  /// The last sequence of an append whose own time is not after a given time.
  func sequence(notAfter time: Int64) throws -> UInt64 {
    sequence(of: try failing { () throws(StoreError) in try log.lastAppend(notAfter: time) })
  }

  private func sequence(of place: AppendPlace?) -> UInt64 {
    if place?.last == log.mark.sequence { dependsOnEnd = true }
    return place?.last ?? log.mark.logBegin - 1
  }

  private func failing<Result>(_ body: () throws(StoreError) -> Result) throws -> Result {
    do throws(StoreError) { return try body() } catch { throw store.failure(error) }
  }

  /// The range that the log holds, for errors about missing events.
  var available: String {
    let mark = log.mark
    guard mark.sequence >= mark.logBegin else { return "the store is empty" }
    return "the log holds \(mark.logBegin)…\(mark.sequence)"
  }

  /// The error for something that the log does not have. If the log is damaged, that cannot be known, and the damage is
  /// the error.
  func missing(_ what: String) -> CommandFailure {
    do throws(CommandFailure) { try store.throwDamage() } catch { return error }
    return CommandFailure(ExitStatus.notFound, what, at: store.path, next: available)
  }
}

extension LaterAppends {
  /// `1 append before it is dated later, the first is seq 2 (2099-01-01T00:00:00.000Z)`.
  func text(before place: String) -> String {
    let time = PeopleText.utc(Timestamp(nanoseconds: first.ownTime))
    let which = count == 1 ? "seq \(first.last) (\(time))" : "the first is seq \(first.last) (\(time))"
    return count == 1
      ? "1 append before \(place) is dated later: \(which)"
      : "\(count) appends before \(place) are dated later, \(which)"
  }
}
