// What `replicate` says of a copy, for people and programs.

internal import LogreplayShell
internal import StrataEvents
internal import StrataReplica

/// What a run of `replicate` has found or made.
struct ReplicaReport {
  var store: String
  /// The part that the store has now: writer, follower or fork.
  var part: String
  var place: String
  var position: LogPosition
  /// How many events the store has that are not in the copy, or the copy that are not in the store.
  var lag: UInt64?
  var origin: String?
  var member: String?
  /// Where what only this store had was moved to, and the file with those events.
  var aside: String?
  var lines: String?
  /// The member that the store was before, if it is another one now.
  var former: String?
  /// Of a store that ships: how far its erasures are.
  var erasure: ErasureState?
  var segmentTrouble: String?
  /// Why the place does not have the note of a copy.
  var noteTrouble: String?
  /// Whether nothing was done.
  var isDryRun = false

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("uuid", store)
    line.field("part", part)
    if let member { line.field("member", member) }
    line.field("place", place)
    line.field("last", position.sequence)
    line.field("chain", LogPosition.hex(position.chain))
    if let lag { line.field("lag", lag) }
    if let origin { line.field("origin", origin) }
    if let aside { line.field("aside", aside) }
    if let lines { line.field("lines", lines) }
    if let former { line.field("formerMember", former) }
    if let erasure { erasure.add(to: &line) }
    if let segmentTrouble { line.field("segmentTrouble", segmentTrouble) }
    if let noteTrouble { line.field("noteTrouble", noteTrouble) }
    if isDryRun { line.field("dryRun", true) }
    return line.finish()
  }

  func text(_ sentence: String) -> String {
    var text = sentence
    if let lag, lag > 0, !isDryRun { text += "; \(counted(lag, "event")) to come" }
    return text + "\n"
  }
}

extension CarrierCheck.Report {
  package func json(_ place: String) -> [UInt8] {
    func ranges(_ ranges: [ClosedRange<UInt64>]) -> [[UInt8]] {
      ranges.map { Array("[\($0.lowerBound),\($0.upperBound)]".utf8) }
    }
    var line = JSONLine()
    line.field("place", place)
    line.field("same", isSame)
    line.field("objects", objects)
    line.field("through", through)
    line.field("ahead", ahead)
    line.field("lag", lag)
    line.array("erasedHere", ranges(erasedHere))
    line.array("erasedThere", ranges(erasedThere))
    return line.finish()
  }

  package func text(_ place: String) -> String {
    var text = "\(place): \(counted(objects, "object")), the same events up to \(through)"
    if lag > 0 { text += "; \(counted(lag, "event")) to come" }
    if ahead > 0 { text += "; \(counted(ahead, "event")) only there" }
    for (ranges, which) in [
      (erasedHere, "erased here, and not there"), (erasedThere, "erased there, and not here"),
    ]
    where !ranges.isEmpty {
      text +=
        "\n  \(which): "
        + ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)…\($0.upperBound)" }.joined(
          separator: ", ")
    }
    return text + "\n"
  }
}
