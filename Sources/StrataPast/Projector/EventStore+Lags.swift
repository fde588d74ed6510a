// How far everything lags that follows the log.

internal import StrataBase
public import StrataEvents
public import StrataLog

extension EventStore {
  /// How far the projections, histories and kept lists that this object was asked for lag behind the head, and all
  /// consumers of the store. Folds nothing. O(consumers + projections): it reads the last event of each consumer.
  ///
  /// What is asked for later is in none of it before, and what has caught up has a lag of 0. Throws if the log cannot be
  /// read.
  public func lags() async throws(StoreError) -> [StoreLag] {
    let result = await machine.reads.result { [self] () throws(StoreError) in try lagsBlocking() }
    return try result.get()
  }

  /// The same for a thread that may block.
  package func lagsBlocking() throws(StoreError) -> [StoreLag] {
    let head = log.mark.sequence
    var lags: [StoreLag] = []
    for status in projections {
      lags.append(StoreLag(.projection, name: status.name, eventCount: status.lag))
      if log.options.keepsHistory, !log.isReadOnly {
        lags.append(
          StoreLag(.history, name: status.name, eventCount: head - min(head, status.historySequence)))
      }
      var lists: [String: UInt64] = [:]
      for list in status.historyLists { lists["\(list.table)/\(list.name)"] = status.lag }
      for list in status.listsBehind {
        guard let name = list.name else { continue }
        lists["\(list.table)/\(name)"] = head - min(head, list.sequence)
      }
      lags += lists.sorted { $0.key < $1.key }.map { StoreLag(.list, name: $0.key, eventCount: $0.value) }
    }
    return lags + (try consumerLagsBlocking())
  }
}
