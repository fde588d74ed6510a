// What a row was over time.

public import StrataEvents

/// A row as one event left it.
public struct RowVersion<Item: Sendable>: Sendable {
  /// The event that made it so.
  public var sequence: UInt64
  /// The own time of the event.
  public var time: Timestamp
  /// The row; nil if the event removed it, or if there is a problem.
  public var item: Item?
  /// Why there is no row: the event could not be applied, or the row does not decode as `Item`.
  public var problem: String?
}

extension RowVersion: Equatable where Item: Equatable {}
