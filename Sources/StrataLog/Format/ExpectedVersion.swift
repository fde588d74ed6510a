// The condition on a stream's version under which an append is accepted.

/// The version that a caller expects a stream to have. The writer checks it when it frames the append, so no other
/// append can come in between.
public enum ExpectedVersion: Hashable, Sendable {
  /// Any number of events.
  case any
  /// No event: the same as `.exactly(0)`.
  case noStream
  /// At least one event.
  case exists
  /// Exactly this many events.
  case exactly(UInt64)
}

extension ExpectedVersion {
  /// Whether a stream with this many events meets the expectation.
  package func isMet(by count: UInt64) -> Bool {
    switch self {
    case .any: true
    case .noStream: count == 0
    case .exists: count > 0
    case .exactly(let expected): count == expected
    }
  }
}

extension ExpectedVersion: CustomStringConvertible {
  public var description: String {
    switch self {
    case .any: "any version"
    case .noStream: "no stream"
    case .exists: "at least one event"
    case .exactly(let count): "version \(count)"
    }
  }
}
