// Points in the log as programs name them.

public import StrataEvents
package import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A point in the log. The state at a point is the one after everything up to it.
public enum LogPoint: Sendable, Hashable {
  /// The visible end at the time of the request.
  case head
  /// Before the first event.
  case beginning
  /// After the event with this sequence, which may be inside an append.
  case sequence(UInt64)
  /// After the last append whose commit time is not later.
  case time(Timestamp)

  /// After the last append whose commit time is not later than a date. A date that no timestamp can represent becomes
  /// the nearest timestamp.
  public static func time(_ date: Date) -> LogPoint {
    .time(Timestamp(date) ?? Timestamp(nanoseconds: date.timeIntervalSince1970 < 0 ? .min + 1 : .max))
  }
}

extension EventStore {
  /// The sequence of a point. May block on the disk.
  ///
  /// Throws `invalid` for a sequence past the end of the log, and `trimmed` for one before its first available event.
  package func sequenceBlocking(of point: LogPoint) throws(StoreError) -> UInt64 {
    // The writer in another process may have appended more.
    if point != .beginning { try log.refresh() }
    let mark = log.mark
    switch point {
    case .head: return mark.sequence
    case .beginning: return mark.logBegin - 1
    case .sequence(let sequence):
      guard sequence <= mark.sequence else {
        throw .invalid(what: "sequence \(sequence) is past the end of the log, which is \(mark.sequence)")
      }
      guard sequence >= mark.logBegin - 1 else { throw .trimmed(firstAvailable: mark.logBegin) }
      return sequence
    case .time(let time):
      return try positionBlocking(at: time)
    }
  }
}
