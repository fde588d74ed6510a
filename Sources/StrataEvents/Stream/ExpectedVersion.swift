// What a stream must hold for an append to be accepted.

package import StrataLog

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
  package var count: ExpectedCount? {
    switch self {
    case .any: nil
    case .noStream: .exactly(0)
    case .exists: .exists
    case .exactly(let count): .exactly(count)
    }
  }

  package init(_ count: ExpectedCount) {
    switch count {
    case .exactly(0): self = .noStream
    case .exactly(let count): self = .exactly(count)
    case .exists: self = .exists
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
