// The three texts of every error: what happened, where, and what to do next.

internal import StrataBase

extension StoreError: CustomStringConvertible {
  /// What happened, as a sentence without its full stop.
  public var what: String {
    switch self {
    case .conflict(let stream, let expected, let actual):
      "\(stream) is at version \(actual), and \(expected) was expected"
    case .idReused(let id, let sequences):
      "the append id \(id) was used for other content, at sequence \(sequences.lowerBound)"
    case .locked(_, let holder): "the store is open for writing in \(holder ?? "another process")"
    case .damaged(let finding): finding.what
    case .full: "the disk or this user's quota is full"
    case .position(.diverged(let sequence)):
      "the log up to sequence \(sequence) is not the one that was read earlier"
    case .position(.trimmed(let first)): "the log starts at sequence \(first)"
    case .position(.beyondEnd(let sequence, let last)):
      "sequence \(sequence) is past the end of the log, which is \(last)"
    case .unavailable(let unavailability): unavailability.what
    case .invalid(let what, _), .undecodable(let what, _): what
    }
  }

  /// Where it happened: a path, a file with an offset, a stream. Empty if it concerns the store as a whole.
  public var place: String {
    switch self {
    case .conflict(let stream, _, _): stream
    case .locked(let path, _), .full(let path): path
    case .damaged(let finding): "\(finding.file) at byte \(finding.offset)"
    case .unavailable(let unavailability): unavailability.place
    case .idReused, .position, .invalid, .undecodable: ""
    }
  }

  /// What to do next, as a sentence without its full stop.
  public var next: String {
    switch self {
    case .conflict: "read the stream and decide again, then append with its current version"
    case .idReused: "use another id for other content"
    case .locked: "close the other writer, wait for it longer, or open the store for reading"
    case .damaged(let finding): finding.next
    case .full: "make room and try again; nothing acknowledged is lost"
    case .position(.diverged): "read the log again from a sequence that both have in common"
    case .position(.trimmed(let first)): "start at sequence \(first)"
    case .position(.beyondEnd): "wait until the log has it, or take an earlier one"
    case .unavailable(let unavailability): unavailability.next
    case .invalid(_, let next), .undecodable(_, let next): next
    }
  }

  /// What happened and where.
  package var whatAndWhere: String { place.isEmpty ? what : "\(what) (\(place))" }

  public var description: String { "\(whatAndWhere); \(next)" }
}
