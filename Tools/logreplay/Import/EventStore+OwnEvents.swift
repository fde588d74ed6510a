// Whether the times of a store are those of what was imported.

internal import StrataEvents
internal import StrataLog

extension EventStore {
  /// Whether the store ends with events of Strata's own, such as the note of an erasure, at a time after that of all
  /// others: the time of a command, and of nothing that is imported. Blocks.
  func endsAtOwnTime() throws(CommandFailure) -> Bool {
    do throws(StoreError) {
      var sequence = head.sequence
      while sequence >= log.mark.logBegin, let append = try appendBlocking(holding: sequence) {
        guard let stream = append.events.last?.stream, stream.text.hasPrefix("$") else {
          return lastTime.map { append.time < $0 } ?? false
        }
        sequence = append.sequences.lowerBound - 1
      }
      return false
    } catch {
      throw CommandFailure(error)
    }
  }
}
