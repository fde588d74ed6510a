// The function that folds the log.

internal import StrataEvents
package import StrataLog

/// The projection of documents, or an application's own projection.
package enum Folding: Sendable {
  /// Documents; only those of the named tables unless nil.
  case documents(only: Set<String>?)
  case own(any Projection)
  /// The same function, except that a write of an equal document raises the revision of its row.
  indirect case touching(Folding)

  /// Whether a write of an equal document raises its row's revision.
  package var recordsTouches: Bool { if case .touching = self { true } else { false } }

  /// The folding whose saved states and history hold the tables of this one.
  package var kept: Folding { if case .documents = self { .documents(only: nil) } else { self } }

  /// The projection's name if its fold halts at an event that it cannot apply; nil if it goes on.
  var haltingName: String? {
    switch self {
    case .touching(let folding): folding.haltingName
    case .documents: nil
    case .own(let projection):
      type(of: projection).onFailure == .halt ? type(of: projection).name : nil
    }
  }

  /// The table and the id of the row that an event changes; nil if it changes none, or if that is not known.
  package func documentRow(
    of event: borrowing EventView
  ) -> (category: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer)? {
    switch self {
    case .touching(let folding): folding.documentRow(of: event)
    case .documents(let tables): DocumentFold.row(of: event, only: tables)
    case .own: nil
    }
  }

  /// Folds one event into the tables. An event that cannot be applied changes nothing but the list of failures.
  func apply(
    _ event: borrowing EventView, at stamp: Stamp, to set: inout TableSet, _ scratch: FoldScratch,
    _ kept: KeptRows
  ) {
    switch self {
    case .touching(let folding): folding.apply(event, at: stamp, to: &set, scratch, kept)
    case .documents(let tables):
      DocumentFold.apply(event, at: stamp, to: &set, only: tables, scratch)
    case .own(let projection):
      guard event.kind == EventKind.event else { return kept.pass(stamp.sequence, after: set.sequence) }
      let recorded = RecordedEvent(event, sequence: stamp.sequence, time: stamp.time)
      // Moved, not copied, so that the trees keep the only references to their pages.
      var moved = TableSet()
      swap(&moved, &set)
      var tables = ProjectionTables(moved, stamp: stamp, scratch: scratch, kept: kept)
      moved = TableSet()
      var failure: String?
      do {
        try projection.apply(recorded, to: &tables)
        failure = tables.commit()
      } catch {
        failure = "\(error)"
      }
      set = tables.end()
      if let failure { set.failures.add(stamp.sequence, failure) }
    }
  }
}

/// Identifies the function that made a state.
package struct FoldingIdentity: Hashable, Sendable {
  private let name: String
  private let version: Int
  /// The projection's Swift type, nil for documents.
  private let type: ObjectIdentifier?
  /// The tables of documents that are folded, nil for all of them.
  private let tables: Set<String>?
  private let recordsTouches: Bool

  package init(_ folding: Folding) {
    recordsTouches = folding.recordsTouches
    switch folding {
    case .touching(let folding):
      let plain = FoldingIdentity(folding)
      (name, version, type, tables) = (plain.name, plain.version, plain.type, plain.tables)
    case .documents(let tables):
      (name, version, type) = ("$documents", 1, nil)
      self.tables = tables
    case .own(let projection):
      let type = Swift.type(of: projection)
      name = type.name
      version = type.version
      self.type = ObjectIdentifier(type)
      tables = nil
    }
  }
}
