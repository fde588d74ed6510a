// The chain values after the appends of one block, computed when one of them is first asked for.

internal import StrataBase
package import StrataLog

/// What the appends of a block share, so that their positions cost one pass over the block, and nothing if nobody asks.
package final class BlockChains: Sendable {
  private enum State {
    case block(DecodedBlock)
    /// The chain after each append of the block, by the append's last sequence.
    case chains([UInt64: UInt64])
  }

  private let state: Lock<State>

  package init(_ block: DecodedBlock) { state = Lock(.block(block)) }

  /// Chain values that are known already.
  package init(chains: [UInt64: UInt64]) { state = Lock(.chains(chains)) }

  /// The chain after the last event of an append of the block. O(events of the block) at the first call, O(1) later.
  func chain(after sequence: UInt64) throws(StoreError) -> UInt64 {
    let chains = try state.withLock { state throws(StoreError) -> [UInt64: UInt64] in
      switch state {
      case .chains(let chains): return chains
      case .block(let block):
        do throws(ContentProblem) {
          let chains = try block.chainsAfterAppends()
          // The block is not needed any more.
          state = .chains(chains)
          return chains
        } catch { throw error.storeError(of: block.header) }
      }
    }
    guard let chain = chains[sequence] else {
      throw .invalid(what: "no append of the block ends at sequence \(sequence)")
    }
    return chain
  }
}
