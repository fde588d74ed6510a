// The projections of one store.

internal import StrataBase
package import StrataEvents
internal import StrataLog
package import StrataTables

/// The projections of one store: what is kept of each on disk, and the projectors of those whose newest state was asked
/// for.
final class Projectors: StoreAttachment, Sendable {
  private struct State {
    var kept: [FoldingIdentity: KeptProjection] = [:]
    var projectors: [FoldingIdentity: Projector] = [:]

    mutating func kept(_ log: Log, _ folding: Folding, _ cache: PageCache) -> KeptProjection {
      let identity = FoldingIdentity(folding)
      let known = kept[identity] ?? KeptProjection(log, folding, cache)
      kept[identity] = known
      return known
    }
  }

  private let state = Lock(State())
  private let threads: FairThreads
  /// What was read of all states and histories of the store.
  let pageCache: PageCache

  init(on threads: FairThreads, _ options: StoreOptions) {
    self.threads = threads
    pageCache = PageCache(options)
  }

  func kept(_ log: Log, _ folding: Folding) -> KeptProjection {
    state.withLock { $0.kept(log, folding, pageCache) }
  }

  func projector(_ log: Log, _ folding: Folding) -> Projector {
    state.withLock { state in
      let identity = FoldingIdentity(folding)
      let projector =
        state.projectors[identity] ?? Projector(log, state.kept(log, folding, pageCache), on: threads)
      state.projectors[identity] = projector
      return projector
    }
  }

  /// Those of which anything was asked for, in no particular order, and what folds their newest states.
  var inUse: [(kept: KeptProjection, projector: Projector?)] {
    state.withLock { state in state.kept.map { ($1, state.projectors[$0]) } }
  }

  func storeWillClose() -> @Sendable () -> Void {
    // What cannot be saved is folded again by the next open.
    let ended = inUse
    for (kept, projector) in ended {
      kept.history?.stop()
      _ = try? projector?.save()
      kept.checkpoints?.leaveHome()
    }
    return { for (kept, _) in ended { kept.history?.mayGoOn() } }
  }
}

extension EventStore {
  /// The projector of a projection, the same one on every call.
  package func projector(_ folding: Folding) -> Projector { projectors.projector(log, folding) }

  /// What is kept of a projection, the same on every call.
  func kept(_ folding: Folding) -> KeptProjection { projectors.kept(log, folding) }

  /// The projections that were asked for.
  var projectors: Projectors {
    let (threads, options) = (machine.folds, log.options)
    return attachment {
      let projectors = Projectors(on: threads, options)
      // Single reads of events keep blocks in what the tables leave of the same bound.
      log.source.catalog.parts.share { [weak cache = projectors.pageCache] in cache?.statistics.byteCount ?? 0
      }
      return projectors
    }
  }
}
