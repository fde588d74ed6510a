// What a store keeps of a projection on disk.

internal import StrataLog
internal import StrataTables

/// The saved states and the history of one projection of one store. A read of the past needs no more: it neither makes
/// nor asks what folds the newest state, which is a `Projector`.
final class KeptProjection: Sendable {
  let folding: Folding
  /// The states on disk; nil if they are not kept.
  let checkpoints: Checkpoints?
  /// Keeps the history; nil if this process keeps none.
  let historian: Historian?
  /// Finds the history that another process keeps; nil if this one writes.
  let reading: HistoryReader?

  /// - Parameter cache: keeps in memory what was read; nil for one of its own.
  init(_ log: Log, _ folding: Folding, _ cache: PageCache?) {
    let cache = cache ?? PageCache(log.options)
    self.folding = folding
    checkpoints = Checkpoints(log, folding, cache)
    historian = Historian(log, folding, checkpoints, cache)
    reading = HistoryReader(log, folding, cache)
  }

  /// What reads of the past use; nil if there can be no history.
  var history: (any KeptHistory)? { historian ?? reading }
}
