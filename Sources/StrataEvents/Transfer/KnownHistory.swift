// The chain of a store after each of its appends, read in their order.

internal import StrataLog

/// Says what the chain of a log is after its appends. Asked for ascending sequences, it reads each block once.
struct KnownHistory: ~Copyable {
  private var cursor: LogCursor
  /// The chains after the appends of the block that was read last.
  private var chains: [UInt64: UInt64] = [:]
  private var last: UInt64 = 0

  init(_ log: Log) { cursor = log.cursor(after: 0) }

  /// The chain after a sequence; nil if no append ends with it. Blocks.
  mutating func chain(after sequence: UInt64) throws(StoreError) -> UInt64? {
    while last < sequence, let block = try cursor.next() {
      do throws(ContentProblem) { chains = try block.chainsAfterAppends() } catch {
        throw error.storeError(of: block.header)
      }
      last = block.header.nextSequence &- 1
    }
    return chains[sequence]
  }
}
