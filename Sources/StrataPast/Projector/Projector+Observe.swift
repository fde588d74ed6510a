// What a projection tells those who observe the store.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension Projector {
  /// Notes a slice of the fold, if somebody wants to know.
  func noteStep(of fold: Fold, since before: FoldingWork.Before) {
    guard log.observation.takesSteps else { return }
    // A fold that began again is before what it had folded.
    let count = fold.state.sequence - min(before.sequence, fold.state.sequence)
    if count > 0 {
      log.observation.note(
        .fold(projection: folding.projectionName, eventCount: count), since: before.time)
    }
  }

  /// Notes that the fold halted, once for each event at which it does: it is tried again by each read.
  func noteIfHalted(_ error: StoreError, _ own: Exclusive) {
    guard error.reason == .halted, own.halt != error else { return }
    own.halt = error
    log.observation.note(
      .halted(
        .projection, name: folding.projectionName, sequence: error.haltedSequence, what: error.what))
  }
}

extension StoreError {
  fileprivate var haltedSequence: UInt64? {
    if case .unavailable(let unavailability) = self { unavailability.sequences?.lowerBound } else { nil }
  }
}

extension Folding {
  /// The name of the projection; `$documents` for the documents.
  package var projectionName: String {
    switch withoutTouches {
    case .own(let projection): type(of: projection).name
    case .documents, .touching: "$documents"
    }
  }
}
