// What a reader delivers of a store, damaged or not, up to its end or to the first place that is wrong.

import StrataBase
import StrataLog
import StrataSimulation

/// The blocks that a log delivers in order.
struct Delivery {
  /// Blocks whose content was computed anew and is right.
  private(set) var blocks: [DecodedBlock] = []
  /// Why it ends before the visible end.
  private(set) var error: StoreError?

  init(_ log: Log) {
    var cursor = log.cursor(after: log.mark.logBegin - 1)
    do throws(StoreError) {
      while let block = try cursor.next() {
        do throws(ContentProblem) { try block.verifyContent() } catch {
          throw error.storeError(of: block.header)
        }
        blocks.append(block)
      }
    } catch {
      self.error = error
    }
  }

  var eventCount: Int { blocks.reduce(0) { $0 + Int($1.header.eventCount) } }

  func events() throws(ContentProblem) -> [GoldenAnswers.Event] {
    var events: [GoldenAnswers.Event] = []
    for block in blocks {
      var firsts: [UnsafeRawPointer: UInt64] = [:]
      try block.forEachAppend { append, first in firsts[append.head.baseAddress!] = first }
      var chain = block.header.chainBefore
      try block.forEachEvent { event, append, sequence in
        chain = Chain.next(
          after: chain, sequence: sequence, revision: event.revision, head: XXH64.of(append.head),
          names: XXH64.of(event.names), content: event.contentHash)
        let first = firsts[append.head.baseAddress!] ?? 0
        events.append(.init(event, of: copy append, first: first, sequence: sequence, chain: chain))
      }
    }
    return events
  }
}
