// A table's rows as they are known apart from their tree.

internal import StrataBase

/// The rows of a table as they were when it was made, read without making pages of their tree. That is what runs know of a
/// table of the past.
package protocol KnownRows: AnyObject, Sendable {
  /// The rows as a tree, as it was made.
  var tree: Tree { get }

  /// A row; nil if it is not known.
  func row(_ id: UnsafeRawBufferPointer) -> KnownRow?

  /// Does what makes it sooner to read some rows, one after another. Best effort.
  func willRead(_ ids: [[UInt8]])

  /// The rows that may differ from those of another moment; nil if they are not known.
  func changes(to other: any KnownRows) -> (any KnownChanges)?

  /// About how many rows those are, without a look at any of them; nil if that is not known.
  func changeCount(to other: any KnownRows) -> Int?
}

/// Walks over rows that may differ between two moments, in ascending order of their ids.
package protocol KnownChanges: AnyObject {
  var id: [UInt8] { get }
  var old: KnownRow { get }
  var new: KnownRow { get }

  /// Goes to the next row. False at the end; nil if the rows after this one are not known.
  func next() -> Bool?
}

/// A row of its own.
package struct KnownRow: Sendable {
  /// When the row was changed and created; nil if the table does not have it.
  var stamp: (revision: UInt64, created: UInt64, time: Int64)?
  var document: [UInt8] = []

  package init(stamp: (revision: UInt64, created: UInt64, time: Int64)? = nil, document: [UInt8] = []) {
    self.stamp = stamp
    self.document = document
  }

  /// Lends the row; nil if the table does not have it.
  package func withRow<Result, Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ body: (RowView?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let stamp else { return try body(nil) }
    return try document.lendBytes { (document) throws(Failure) in
      try body(
        RowView(
          id: id, revision: stamp.revision, created: stamp.created, time: stamp.time, document: document))
    }
  }
}

extension RowView {
  /// Whether all that a table holds of both rows is the same.
  func isSame(as other: RowView) -> Bool {
    revision == other.revision && created == other.created && time == other.time
      && document.hasSameBytes(as: other.document)
  }
}
