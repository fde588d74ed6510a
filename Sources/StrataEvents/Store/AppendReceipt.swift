// The result of an append.

package import StrataLog

/// The result of an append that is as durable as the store's options require.
public struct AppendReceipt: Sendable, Hashable {
  /// The sequences of the append's events.
  public var sequences: ClosedRange<UInt64>
  /// The commit time.
  public var time: Timestamp
  /// The time that the clock or the caller gave, if the commit time was raised above it: an append is never recorded as
  /// earlier than the one before it.
  public var givenTime: Timestamp?
  /// The position after the append: a feed that begins there delivers what follows it.
  public var position: LogPosition
  /// True if an append with this id was in the log already, so that this call appended nothing.
  public var wasKnown: Bool
  /// The id of the store that holds the append.
  package let storeID: StoreID

  /// The id of the store that holds the append, as text.
  package var store: String { storeID.description }
}
