// What an import needs to know of tables. The module of tables is a higher one, and has what does this.

package import StrataEvents
package import StrataLog

/// Filters, and the tables of a store.
package protocol ImportTables: Sendable {
  /// The condition that a filter states.
  ///
  /// - Parameter takesID: whether the filter may ask for the id of the row that a record is imported as.
  func condition(_ filter: String, takesID: Bool) throws(ImportConditionError) -> ImportCondition

  /// The rows of a table as the store has them now. Blocks.
  func rows(of table: String, in store: EventStore) throws(StoreError) -> any ImportTableRows

  /// Saves the tables of a store if they were saved before, so that they stay near the head. Blocks.
  func extendState(of store: EventStore)
}

/// A condition on records before they are imported.
package struct ImportCondition: Sendable {
  private let isTrue: @Sendable (_ record: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer) -> Bool

  package init(
    _ isTrue: @escaping @Sendable (_ record: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer) -> Bool
  ) {
    self.isTrue = isTrue
  }

  /// - Parameter id: the id of the row that the record is imported as; empty for a condition that does not take it.
  func matches(
    _ record: UnsafeRawBufferPointer,
    id: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) -> Bool {
    isTrue(record, id)
  }
}

/// Why a filter is not a condition on records.
package enum ImportConditionError: Error {
  /// It does not parse: the text of the error.
  case syntax(String)
  /// It asks for something that a row has and a record has not.
  case ofRows(String)
}

/// The rows of one table, as a store had them when an import began, which appends only what differs from them. Keeps
/// what they are read from.
///
/// Sent to the thread that reads, which is the only one that uses it then.
package protocol ImportTableRows: Sendable {
  /// Whether the store has a row with this document; or none, if there is no document.
  func isEqual(_ id: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer?) -> Bool

  var count: Int { get }

  /// All of them, from the first one.
  func scan() -> any ImportTableScan
}

/// Goes through the rows of a table in the order of their ids. Belongs to one thread.
package protocol ImportTableScan: AnyObject {
  /// The id of the next row, valid until the next call; nil after the last.
  func next() -> UnsafeRawBufferPointer?

  /// Whether the row whose id was returned last has this document.
  func hasDocument(_ document: UnsafeRawBufferPointer) -> Bool
}
