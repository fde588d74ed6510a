// The result of checking what an application can read of its log.

/// What an application can no longer read of its log, by event type. `problems` is empty if it can read everything.
public struct EventCheck: Sendable, Hashable {
  /// The maximum number of problems listed, and of bytes of each one's text.
  public static let problemCountMax = 1_000
  static let textLengthMax = 2_000

  /// The events of one type that the application cannot read.
  public struct Problem: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
      /// A Swift type has this event type, and the events do not decode.
      case unreadable
      /// No Swift type has this event type.
      case unknownType
      /// A newer version of Strata wrote the events in a form that this version cannot read.
      case opaque
    }

    public var kind: Kind
    /// The events' type, as recorded.
    public var type: String
    /// The number of these events.
    public var count: UInt64
    /// The sequence of the first of them.
    public var firstSequence: UInt64
    /// The first error.
    public var what: String
  }

  /// The number of events that were checked. Erased events, and those that Strata writes itself, are not among them.
  public internal(set) var eventCount: UInt64 = 0
  /// The problems, in the order of their first sequences.
  public private(set) var problems: [Problem] = []
  /// The number of events with a problem that is not listed, since there are too many.
  public private(set) var unlistedCount: UInt64 = 0

  private struct Key: Hashable {
    var kind: Problem.Kind
    var type: String
  }

  private var indexes: [Key: Int] = [:]

  /// Adds an event that cannot be read.
  mutating func add(_ kind: Problem.Kind, _ event: RecordedEvent, _ what: @autoclosure () -> String) {
    let key = Key(kind: kind, type: event.type)
    if let index = indexes[key] {
      problems[index].count += 1
      return
    }
    guard problems.count < Self.problemCountMax else {
      unlistedCount += 1
      return
    }
    indexes[key] = problems.count
    problems.append(
      Problem(
        kind: kind, type: event.type, count: 1, firstSequence: event.sequence,
        what: what().shortened(toUTF8Count: Self.textLengthMax)))
  }
}

extension EventCheck: CustomStringConvertible {
  /// A line for each problem, for the failure of a test.
  public var description: String {
    guard !problems.isEmpty else { return "all \(eventCount) events can be read" }
    let lines = problems.map { problem in
      "\(problem.type): \(problem.count) events from sequence \(problem.firstSequence) on: \(problem.what)"
    }
    let rest = unlistedCount > 0 ? ["and \(unlistedCount) events of other types"] : []
    return (lines + rest).joined(separator: "\n")
  }
}
