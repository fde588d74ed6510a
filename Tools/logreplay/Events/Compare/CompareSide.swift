// One of the two stores of a comparison: its events in order, read block by block.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// The events of a store that are compared, one after another, up to the end that the store had at first.
final class CompareSide {
  /// An event, valid until the next one is asked for.
  struct Item {
    var append: AppendView
    var event: EventView
    var sequence: UInt64
    /// Whether no compared event before it is of the same append.
    var beginsAppend: Bool
  }

  let opened: OpenedStore
  /// The number of events that were compared or are about to be, and of their appends.
  private(set) var eventCount: UInt64 = 0
  private(set) var appendCount: UInt64 = 0
  /// The number of Strata's own events that were left out.
  private(set) var leftOutCount: UInt64 = 0

  private let end: UInt64
  private let hasOwnEvents: Bool
  private var cursor: LogCursor
  private var block: BlockCursor?
  /// The last sequence of the append of the last event.
  private var lastAppendEnd: UInt64?

  /// - Parameter hasOwnEvents: whether events of Strata's own streams are compared, too.
  init(_ path: String, hasOwnEvents: Bool) throws(CommandFailure) {
    opened = try OpenedStore.open(path)
    self.hasOwnEvents = hasOwnEvents
    let mark = opened.log.mark
    end = mark.sequence
    cursor = opened.log.cursor(after: mark.logBegin - 1)
  }

  /// The next event to compare; nil at the end. Throws if damage follows the end: what is after it cannot be compared,
  /// so nothing could be said of the whole store.
  func next() throws(CommandFailure) -> Item? {
    while let item = try nextOfAll() {
      guard hasOwnEvents || item.event.stream.first != UInt8(ascii: "$") else {
        leftOutCount += 1
        continue
      }
      return item
    }
    try opened.throwDamage()
    return nil
  }

  /// Counts an event as compared.
  func count(_ item: Item) {
    eventCount += 1
    if item.beginsAppend { appendCount += 1 }
    lastAppendEnd = block?.appendEnd
  }

  private func nextOfAll() throws(CommandFailure) -> Item? {
    while true {
      if block?.isAtEnd ?? true {
        guard cursor.nextSequence <= end else { return nil }
        do throws(StoreError) {
          // Nil at a block that holds no events.
          if let next = try cursor.next() { block = BlockCursor(next) }
        } catch { throw opened.failure(error) }
        continue
      }
      guard var position = block, position.nextSequence <= end else { return nil }
      do throws(ContentProblem) {
        guard let append = try position.openAppend() else { return nil }
        let sequence = position.nextSequence
        let event = try position.nextEvent()
        block = position
        return Item(
          append: append, event: event, sequence: sequence, beginsAppend: position.appendEnd != lastAppendEnd)
      } catch { throw opened.failure(error.storeError(of: position.block.header)) }
    }
  }
}
