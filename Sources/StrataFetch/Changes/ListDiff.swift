// What changed between two states of a list, untyped: one canonical batch.

internal import StrataTables

/// The changes that make one list of another.
///
/// Every item that only the old list shows is one deletion, every item that only the new one shows is one
/// insertion, every item of both whose section or whose order among its neighbours changed is one move, and an
/// item whose row changed and that stays is one update. An item occurs once. `from` counts in the old list,
/// `to` in the new one. To apply it: take deleted and moved items out; take deleted and moved sections out; put
/// inserted and moved sections in, by ascending `to`; put inserted and moved items in, by ascending `to`.
package struct ListDiff: Sendable, Hashable {
  package struct Deletion: Sendable, Hashable {
    package var id: String
    package var from: ListPosition
  }

  package struct Insertion: Sendable, Hashable {
    package var id: String
    package var to: ListPosition
  }

  package struct Move: Sendable, Hashable {
    package var id: String
    package var from: ListPosition
    package var to: ListPosition
    /// Whether the row's content changed too.
    package var isChanged: Bool
    /// The names of the fields that changed, by their UTF-8.
    package var changedFields: [String] = []
  }

  package struct Update: Sendable, Hashable {
    package var id: String
    package var from: ListPosition
    package var to: ListPosition
    /// The names of the fields that changed, by their UTF-8.
    package var changedFields: [String] = []
  }

  package struct SectionDeletion: Sendable, Hashable {
    package var section: [UInt8]
    package var from: Int
  }

  package struct SectionInsertion: Sendable, Hashable {
    package var section: [UInt8]
    package var to: Int
    package var count: Int
  }

  package struct SectionMove: Sendable, Hashable {
    package var section: [UInt8]
    package var from: Int
    package var to: Int
  }

  /// A section of both lists that holds another number of items, shown or not.
  package struct SectionUpdate: Sendable, Hashable {
    package var section: [UInt8]
    package var from: Int
    package var to: Int
    package var count: Int
  }

  /// Descending by `from`.
  package var deletions: [Deletion] = []
  /// Descending by `from`.
  package var sectionDeletions: [SectionDeletion] = []
  /// Ascending by `to`.
  package var sectionInsertions: [SectionInsertion] = []
  /// Ascending by `to`.
  package var sectionMoves: [SectionMove] = []
  /// Ascending by `to`.
  package var insertions: [Insertion] = []
  /// Ascending by `to`.
  package var moves: [Move] = []
  /// Ascending by `to`.
  package var updates: [Update] = []
  /// Ascending by `to`.
  package var sectionUpdates: [SectionUpdate] = []

  package init() {}

  package var isEmpty: Bool {
    deletions.isEmpty && sectionDeletions.isEmpty && sectionInsertions.isEmpty && sectionMoves.isEmpty
      && insertions.isEmpty && moves.isEmpty && updates.isEmpty && sectionUpdates.isEmpty
  }
}
