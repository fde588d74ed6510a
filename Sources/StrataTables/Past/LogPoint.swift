// Places in the log as programs name them.

public import StrataEvents
package import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A place in the log: the state there is the one after everything up to it.
public enum LogPoint: Sendable, Hashable {
  /// The visible end, when it is asked.
  case head
  /// Before everything.
  case beginning
  /// After the event with this sequence, which may be inside an append.
  case sequence(UInt64)
  /// After the last append whose commit time is not later.
  case time(Timestamp)

  /// After the last append whose commit time is not later than a date. A date that no timestamp can say stands
  /// for the nearest that one can.
  public static func time(_ date: Date) -> LogPoint {
    .time(Timestamp(date) ?? Timestamp(nanoseconds: date.timeIntervalSince1970 < 0 ? .min + 1 : .max))
  }
}

extension EventStore {
  /// The sequence that a point stands for. Blocks for a time.
  ///
  /// Throws `invalid` for a sequence that the log does not have.
  package func sequenceBlocking(of point: LogPoint) throws(StoreError) -> UInt64 {
    // Another process's writer may have gone on.
    if point != .beginning { try log.refresh() }
    let mark = log.mark
    switch point {
    case .head: return mark.sequence
    case .beginning: return mark.logBegin - 1
    case .sequence(let sequence):
      guard sequence <= mark.sequence else {
        throw .invalid(what: "sequence \(sequence) is behind the end of the log, which is \(mark.sequence)")
      }
      guard sequence >= mark.logBegin - 1 else { throw .trimmed(firstAvailable: mark.logBegin) }
      return sequence
    case .time(let time):
      return try positionBlocking(at: time)
    }
  }
}
