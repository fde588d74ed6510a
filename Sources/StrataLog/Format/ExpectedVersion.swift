// What a stream must hold for an append to be accepted.

/// What a caller expects of a stream. Decided by the writer when the append is framed, so nothing comes in
/// between.
public enum ExpectedVersion: Hashable, Sendable {
  /// Whatever it holds.
  case any
  /// No event: the same as `.exactly(0)`.
  case noStream
  /// At least one event.
  case exists
  /// Exactly so many events.
  case exactly(UInt64)
}

extension ExpectedVersion {
  /// Whether a stream that holds so many events is what was expected.
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
