// How far the projections of a store are folded and saved.

internal import StrataBase
public import StrataEvents
public import StrataLog
internal import StrataTables

/// How far one projection is folded in this process, and what of it is on disk.
public struct ProjectionStatus: Sendable, Equatable {
  /// The projection's name; `$documents` for the documents.
  public var name: String
  /// The last event that is folded in; 0 before the first.
  public var sequence: UInt64
  /// The number of events in the log that are not folded in.
  public var lag: UInt64
  /// The last event that is in the state on disk. Nil if no state is known: there is none, or nothing was asked of the
  /// projection yet.
  public var savedSequence: UInt64?
  /// The bytes that this process has written for states.
  public var savedByteCount: UInt64
  /// Why the last state could not be written. Nothing is lost, but the next start folds more.
  public var saveError: StoreError?
  /// The pages that were read from the state on disk since it was opened, without those at its roots.
  public var pagesRead: Int
  /// The bytes of those pages. How many are in memory is said by `EventStore.memory()`.
  public var pageByteCount: Int
  /// The pages of the state on disk that could not be read. What they held was folded from the log again, so no answer
  /// was wrong; but the disk may be failing.
  public var pagesLost: Int
  /// What was wrong with the last of them.
  public var lastLoss: String?
  /// The last event whose changes are in the history on disk, as far as this process knows; 0 if it knows of none.
  public var historySequence: UInt64
  /// The first event that the history answers about, as about all later ones up to `historySequence`: one after the first
  /// of the log where only the last part of the history is kept. What is before it is replayed. Nil if this process knows
  /// of none.
  public var historyFirstSequence: UInt64?
  /// Why the history could not be continued, or the list that dropped out of it because its code made other keys of the
  /// same rows. Nothing is lost, but states of the past after it are replayed, or the list's past is built from the rows.
  public var historyError: StoreError?
  /// The kept lists that this process asked for, ascending by table and name, and from which event on their past is in the
  /// history.
  public var historyLists: [ListHistory]
  /// The lists that show an older state than `sequence`, ascending by table and name: they are being built, or the
  /// program's code takes so long over their rows that they catch up beside the folding, which no other list waits for.
  public var listsBehind: [ListBehind]
}

/// A list that shows an older state than its projection has.
public struct ListBehind: Sendable, Hashable {
  public var table: String
  /// The name under which the list is kept; nil for one that is not.
  public var name: String?
  /// The last event that is in the list; 0 before it is built.
  public var sequence: UInt64
}

extension EventStore {
  /// How far the projections are that this object was asked for and whose states or histories are kept, ascending by
  /// name. Folds and reads nothing.
  public var projections: [ProjectionStatus] {
    let head = log.mark.sequence
    let found = projectors.inUse.compactMap { kept, projector -> ProjectionStatus? in
      let (checkpoints, history) = (kept.checkpoints, kept.history)
      guard let name = checkpoints?.projectionName ?? kept.historian?.name.name else { return nil }
      let sequence = projector?.published.sequence ?? log.mark.logBegin - 1
      let (loaded, faults) = (checkpoints?.loaded, checkpoints?.faults)
      return ProjectionStatus(
        name: name, sequence: sequence, lag: head - min(head, sequence),
        savedSequence: checkpoints?.savedSequence, savedByteCount: checkpoints?.bytesWritten ?? 0,
        saveError: checkpoints?.failure, pagesRead: loaded?.pages ?? 0, pageByteCount: loaded?.bytes ?? 0,
        pagesLost: faults?.count ?? 0, lastLoss: faults?.last,
        historySequence: history?.end ?? 0,
        historyFirstSequence: history?.firstSequence, historyError: history?.failure,
        historyLists: (history?.lists ?? []).sorted { ($0.table, $0.name) < ($1.table, $1.name) },
        listsBehind: (projector?.listsBehind ?? []).sorted {
          ($0.table, $0.name ?? "", $0.sequence) < ($1.table, $1.name ?? "", $1.sequence)
        })
    }
    return found.sorted { ($0.name, $0.sequence) < ($1.name, $1.sequence) }
  }
}
