// Compares rows with those that the store has, so that only what differs is appended.

internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The rows of one table, as the store had them when the import began.
///
/// Sent to the thread that reads, which is the only one that uses it then.
final class ImportDifference: @unchecked Sendable {
  /// Keeps what the rows are read from.
  private let past: PastReader
  private let rows: Table

  /// Folds the table, or takes what is saved of it. Blocks.
  init(_ store: EventStore, table: String) throws(CommandFailure) {
    past = PastReader(store, .documents(only: [table]))
    do throws(StoreError) { rows = try past.fold(at: store.head.sequence).state[table] } catch {
      throw CommandFailure(error)
    }
  }

  /// Whether the store has a row with this document; or none, if there is no document.
  func isEqual(_ id: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer?) -> Bool {
    rows.withRow(id) { row in
      guard let row, let document else { return row == nil && document == nil }
      return document.elementsEqual(row.document)
    }
  }
}
