// The result of an append.

package import StrataLog

/// The result of an append that is as durable as the store's options require.
public struct AppendReceipt: Sendable {
  /// The sequences of the append's events.
  public internal(set) var sequences: ClosedRange<UInt64>
  /// The commit time.
  public let time: Timestamp
  /// The time that the clock or the caller gave, if the commit time was raised above it: an append is never recorded as
  /// earlier than the one before it.
  public let givenTime: Timestamp?
  /// True if an append with this id was in the log already, so that this call appended nothing.
  public let wasKnown: Bool
  /// The id of the store that holds the append.
  package let storeID: StoreID
  private let chain: Chain

  private enum Chain {
    case known(UInt64)
    case inBlock(BlockChains)
  }

  init(_ outcome: AppendOutcome, in store: StoreID) {
    sequences = outcome.first...outcome.last
    time = Timestamp(nanoseconds: outcome.time)
    givenTime = outcome.given.map { Timestamp(nanoseconds: $0) }
    wasKnown = outcome.isKnown
    storeID = store
    chain =
      switch outcome.chain {
      case .known(let chain): .known(chain)
      case .inBlock(let block): .inBlock(BlockChains(block))
      }
  }

  /// The position after the append: a feed that begins there delivers what follows it.
  ///
  /// O(1), except for an append that was known: then it is computed from its block of the log when it is first asked for,
  /// and throws `damaged` if the block has no such event.
  public var position: LogPosition {
    get throws(StoreError) {
      let last = sequences.upperBound
      switch chain {
      case .known(let chain): return LogPosition(sequence: last, chain: chain)
      case .inBlock(let chains): return LogPosition(sequence: last, chain: try chains.chain(after: last))
      }
    }
  }

  /// The id of the store that holds the append, as text.
  package var store: String { storeID.description }
}

extension AppendReceipt: Hashable {
  public static func == (a: AppendReceipt, b: AppendReceipt) -> Bool {
    a.sequences == b.sequences && a.time == b.time && a.givenTime == b.givenTime && a.wasKnown == b.wasKnown
      && a.storeID == b.storeID
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(sequences)
    hasher.combine(storeID)
  }
}
