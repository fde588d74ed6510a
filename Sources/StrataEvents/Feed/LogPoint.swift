// Points in the log as programs name them.

package import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A point in the log, between two of its events: a past state is the one at a point, and a feed begins at one.
///
/// The state at a point is the result of every event before it; a feed from a point delivers every event after it.
public enum LogPoint: Sendable, Hashable {
  /// The visible end at the time of the request.
  case head
  /// Before the first event.
  case beginning
  /// After the event with this sequence, which may be inside an append. A state needs one that the log has; a feed may
  /// begin at one that it does not have yet.
  case sequence(UInt64)
  /// After the event of a position that was read before. If the log's events up to it are not the ones that were read,
  /// a read there throws `position`, diverged, instead of skipping anything.
  case position(LogPosition)
  /// After the last append whose own time is not later: the time that was given for it, otherwise its commit time. So a
  /// clock that was ahead for one append hides none of those after it, and what was appended before them is included,
  /// whatever its own time is.
  case time(Timestamp)

  /// After the last append whose own time is not later than a date. A date that no timestamp can represent becomes
  /// the nearest timestamp.
  public static func time(_ date: Date) -> LogPoint {
    .time(Timestamp(date) ?? Timestamp(nanoseconds: date.timeIntervalSince1970 < 0 ? .min + 1 : .max))
  }
}

extension EventStore {
  /// The sequence of a point. May block on the disk.
  ///
  /// Throws `beyondEnd` for a sequence past the end of the log, `trimmed` for one before its first available event, and
  /// `diverged` for a position of another history.
  ///
  /// - Parameters:
  ///   - looks: whether to look for what another process appended or erased since. For a sequence that this process has
  ///     not seen it is looked for in any case.
  ///   - builds: whether a missing index, of which a time has need, is built; if not, `indexMissing` is thrown.
  package func sequenceBlocking(
    of point: LogPoint, looks: Bool = true, builds: Bool = true
  ) throws(StoreError) -> UInt64 {
    if point != .beginning, looks || !isKnown(point) { try log.refresh() }
    let mark = log.mark
    switch point {
    case .head: return mark.sequence
    case .beginning: return mark.logBegin - 1
    case .position(let position):
      guard position.sequence >= mark.logBegin - 1 else { throw .trimmed(firstAvailable: mark.logBegin) }
      let chain = try log.chain(after: position.sequence)
      guard chain == position.chain else { throw .diverged(sequence: position.sequence) }
      return position.sequence
    case .sequence(let sequence):
      guard sequence <= mark.sequence else {
        throw .position(.beyondEnd(sequence: sequence, last: mark.sequence))
      }
      guard sequence >= mark.logBegin - 1 else { throw .trimmed(firstAvailable: mark.logBegin) }
      return sequence
    case .time(let time):
      return try positionBlocking(at: time, builds: builds)
    }
  }

  /// Whether nothing that another process appends can change the sequence of a point.
  private func isKnown(_ point: LogPoint) -> Bool {
    switch point {
    case .beginning: true
    case .sequence(let sequence): sequence <= log.mark.sequence
    case .head, .position, .time: false
    }
  }
}
