// Resolves points to sequences of a store.

package import LogreplayPoints
package import StrataEvents
package import StrataLog

/// A point's position in the log.
package struct ResolvedPoint: Hashable, Sendable {
  /// The last sequence that the point includes; 0 before the first event.
  package var sequence: UInt64
  /// The own time of the append that holds the sequence; nil at 0.
  package var time: Timestamp?
  /// The sequences of the append that holds the sequence, if the sequence is not its last.
  package var inside: ClosedRange<UInt64>?
  /// What a point by time passes over: the appends before it that are dated later.
  var later: LaterAppends?

  package init(
    sequence: UInt64, time: Timestamp? = nil, inside: ClosedRange<UInt64>? = nil, later: LaterAppends? = nil
  ) {
    (self.sequence, self.time, self.inside, self.later) = (sequence, time, inside, later)
  }

  package init(_ append: AppendPosition) {
    self.init(sequence: append.last, time: Timestamp(nanoseconds: append.ownTime))
  }
}

/// Resolves points in an open store. Blocks; belongs to one thread.
package final class PointResolver {
  let store: OpenedStore
  /// Whether some resolved point depends on where the log ends: the head, points counted from it, and times or id
  /// prefixes that an append past the visible end might match. If the log is damaged there, the result describes an
  /// incomplete log.
  package private(set) var dependsOnEnd = false

  /// Whether the results are also printed on standard error.
  private let notes: Bool

  package init(store: OpenedStore, notes: Bool = true) { (self.store, self.notes) = (store, notes) }

  private var log: Log { store.log }

  /// The most ids listed in the error for an ambiguous prefix.
  private static let idsShownMax = 5

  /// Resolves a point and prints the result on standard error, unless the point is already a sequence.
  package func resolve(_ named: PointRange.Named) throws -> ResolvedPoint {
    let found = try resolve(named.point, text: named.text)
    if case .sequence = named.point {} else { note(Self.echo(named.text, found)) }
    if let inside = found.inside {
      note("seq \(found.sequence) is inside the append \(inside.lowerBound)…\(inside.upperBound)")
    }
    return try noting(found)
  }

  /// The point, which is inside of a commit if it is at the end of an append after which the commit goes on. Says so.
  private func noting(_ point: ResolvedPoint) throws -> ResolvedPoint {
    guard point.inside == nil, point.sequence >= log.mark.logBegin, point.sequence > 0,
      let append = try failing({ () throws(StoreError) in
        try store.store.appendBlocking(holding: point.sequence)
      }), let id = append.id, let part = SplitCommits.part(id: id.utf8)
    else { return point }
    // The id may have a part of the hash only.
    var hash = part.hash
    if case .string(let whole)? = try? append.events.first?.metadata()["commit"], whole.hasPrefix(hash) {
      hash = whole
    }
    let ends = try failing { () throws(StoreError) -> (UInt64?, AppendPosition?) in
      let first = try log.index.first(ofID: Array(SplitCommits.id(of: hash, part: 1).utf8))
      let last = try log.index.first(ofID: Array(hash.utf8))
      return (first, try last.flatMap { sequence throws(StoreError) in try log.append(holding: sequence) })
    }
    var point = point
    let first = ends.0 ?? append.sequences.lowerBound
    let last = max(ends.1?.last ?? 0, point.sequence)
    point.inside = first...last
    note(
      "seq \(point.sequence) is inside the commit \(hash), after the first \(counted(part.number, "append")) of it: "
        + (ends.1 == nil
          ? "the rest is not in the store; import the repository again"
          : "it is whole at seq \(last), id:\(hash)"))
    return point
  }

  private func note(_ line: String) { if notes { Terminal.note(line) } }

  /// The visible end, used if no point is given.
  package func head() throws -> ResolvedPoint {
    dependsOnEnd = true
    return try noting(try place(log.mark.sequence, "head"))
  }

  /// The point that a cursor names. Throws if the log up to there is not the one that the cursor was taken from.
  package func point(of position: LogPosition) throws -> ResolvedPoint {
    try check(position)
    return try place(position.sequence, "the cursor")
  }

  /// The point before the first event of the log.
  package var beginning: ResolvedPoint { ResolvedPoint(sequence: log.mark.logBegin - 1) }

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
      let commits = SplitCommits(log)
      let steps = commits.step(ofOrdinal: mark.appends)
      guard count <= steps else { throw missing("\(text) is before the beginning of the log") }
      if count == steps { return try place(0, text) }
      if count == 0 { return try place(mark.sequence, text) }
      let ordinal = commits.ordinal(ofStep: steps - count)
      guard let append = try failing({ () throws(StoreError) in try log.append(ordinal: ordinal) }) else {
        throw missing("\(text) is before the beginning of the log")
      }
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
  package func check(_ position: LogPosition) throws {
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
    if let place = try failing({ () throws(StoreError) -> AppendPosition? in
      guard let first = try log.index.first(ofID: Array(id.utf8)) else { return nil }
      return try log.append(holding: first)
    }) {
      return ResolvedPoint(place)
    }
    // All appends of a commit are one, with the id of the last one that is there.
    var found: [String: String] = [:]
    try failing { () throws(StoreError) in
      try log.index.forEachID(prefix: Array(id.utf8)) { bytes in
        let name = String(decoding: bytes, as: UTF8.self)
        let isOfCommit = GitHash.isOne(bytes) || SplitCommits.part(id: bytes) != nil
        found[isOfCommit ? String(name.prefix(GitHash.lengthMin)) : name] = name
        return found.count <= Self.idsShownMax
      }
    }
    let names = found.values.sorted()
    guard let only = names.first else { throw try missing(id: id) }
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

  /// The error for an id that no append has. Of a git history, not every commit has an append.
  private func missing(id: String) throws -> CommandFailure {
    var failure = missing("no append has an id that begins with '\(id)'")
    guard failure.code == ExitStatus.notFound, id.utf8.count >= 4, id.utf8.allSatisfy(GitHash.isDigit)
    else {
      return failure
    }
    let (streams, types) = try failing { () throws(StoreError) in
      (
        try log.index.streams(prefix: Array("commit/\(id)".utf8), limit: 2),
        try log.index.types(prefix: Array("git.commit".utf8), limit: 1)
      )
    }
    guard !types.isEmpty else { return failure }
    failure.next =
      "an import makes appends of the commits along first parents: for a commit of another branch, give id: and the "
      + "merge that brought it; \(available)"
    guard streams.count == 1, let name = streams.first?.name else { return failure }
    let append = try failing { () throws(StoreError) -> RecordedAppend? in
      guard let sequence = try log.index.parts(of: name, after: 0).last?.sequences.last else { return nil }
      return try store.store.appendBlocking(holding: sequence)
    }
    guard let event = append?.events.first(where: { Array($0.stream.text.utf8) == name }),
      event.type == SplitCommits.mergedType, case .string(let merge)? = try? event.document()["append"]
    else { return failure }
    failure.what = "the commit \(event.stream.id) is in the history, but has no append of its own"
    failure.next = "it came with a merge: give id:\(merge)"
    return failure
  }

  /// A sequence up to which all appends have times before a given one: those that were committed before it.
  package func sequence(committedBefore time: Int64) throws -> UInt64 {
    guard time > .min else { return log.mark.logBegin - 1 }
    return sequence(
      of: try failing { () throws(StoreError) in
        try log.lastAppend(committedNotAfter: time - 1, in: log.mark)
      })
  }

  /// The last sequence of an append whose own time is not after a given time.
  package func sequence(notAfter time: Int64) throws -> UInt64 {
    try resolve(.time(time), text: "").sequence
  }

  private func sequence(of place: AppendPosition?) -> UInt64 {
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
  package func missing(_ what: String) -> CommandFailure {
    do throws(CommandFailure) { try store.throwDamage() } catch { return error }
    return CommandFailure(ExitStatus.notFound, what, at: store.path, next: available)
  }
}

extension LaterAppends {
  /// `1 append before it is dated later, the first is seq 2 (2099-01-01T00:00:00.000Z)`.
  package func text(before place: String) -> String {
    let time = PeopleText.utc(Timestamp(nanoseconds: first.ownTime))
    let which = count == 1 ? "seq \(first.last) (\(time))" : "the first is seq \(first.last) (\(time))"
    return count == 1
      ? "1 append before \(place) is dated later: \(which)"
      : "\(count) appends before \(place) are dated later, \(which)"
  }
}
