// Whether the times of a store are those of what was imported.

internal import StrataEvents
internal import StrataLog

extension EventStore {
  /// Whether the last append is Strata's own, such as the note of an erasure: its time is that of a command, and that of
  /// nothing that is imported. Blocks.
  func endsWithOwnEvent() throws(CommandFailure) -> Bool {
    guard head.sequence > 0 else { return false }
    do throws(StoreError) {
      let last = try appendBlocking(holding: head.sequence)?.events.last
      return last?.stream.text.hasPrefix("$") ?? false
    } catch {
      throw CommandFailure(error)
    }
  }
}
