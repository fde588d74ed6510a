// What consumers tell those who observe the store.

internal import StrataBase
package import StrataLog

extension EventStore {
  /// Notes that a consumer has stopped at an append.
  func noteHalt(of consumer: String, at append: RecordedAppend, _ error: any Error) {
    let failure = ConsumerFailure(append, error)
    log.observation.note(
      .halted(.consumer, name: consumer, sequence: failure.sequence, what: failure.what))
  }

  /// How far each consumer lags behind the head, by name: the events after its position, whether or not it selects them.
  /// ``consumers()`` counts those that it selects, which takes longer. O(consumers). Blocks.
  package func consumerLagsBlocking() throws(StoreError) -> [StoreLag] {
    let (head, begin) = (log.mark.sequence, log.mark.logBegin - 1)
    return try consumerStatesBlocking().map { name, state in
      let at = max(begin, state.position?.sequence ?? begin)
      return StoreLag(.consumer, name: name, eventCount: head - min(head, at))
    }
  }
}
