// Which event gave each field of a row the value that it has.

internal import StrataBase
public import StrataDocuments
public import StrataEvents
internal import StrataLog
public import StrataTables

/// The event that gave a field of a row the value that it has.
public struct FieldOrigin: Sendable, Equatable {
  /// A field of the row itself, not of an object in it.
  public var name: String
  public var value: DocumentValue
  /// The event.
  public var sequence: UInt64
  /// The own time of the event.
  public var time: Timestamp
}

extension RowSource {
  /// Which event gave each field of a row the value that it has at a point of the log. In the order of the names' UTF-8;
  /// none if there is no row.
  ///
  /// A field that has the same value in each version from some event on has it from that event, though later events may
  /// have written it again. `EventStore.append(holding:)` has the event itself.
  ///
  /// Costs what `history(of:)` costs, and O(versions · size of the row). Throws `position` if the log does not have the
  /// point.
  public func fieldOrigins(of id: Item.ID, at point: LogPoint = .head) async throws -> [FieldOrigin] {
    let (table, id) = (table, id.documentID)
    let documents = RowTable<DocumentRow>(store: table.store, folding: table.folding, name: table.name) {
      (row) throws(RowProblem) in try DocumentRow(row)
    }
    let last = try await table.store.lookingUp { [store = table.store] builds throws(StoreError) in
      try store.sequenceBlocking(of: point, builds: builds)
    }
    return FieldOrigin.origins(in: try await documents.history(of: id).filter { $0.sequence <= last })
  }
}

extension FieldOrigin {
  /// Those of the last of some versions of a row.
  ///
  /// - Parameter versions: all versions up to the last one, the oldest first.
  package static func origins(in versions: [RowVersion<DocumentRow>]) -> [FieldOrigin] {
    guard let last = versions.last, let row = last.item else { return [] }
    var origins = row.fields.map {
      FieldOrigin(name: $0.key, value: $0.value, sequence: last.sequence, time: last.time)
    }
    // Those that have had their value in all versions so far, from the last one on.
    var open = Array(origins.indices)
    for version in versions.reversed() where !open.isEmpty {
      let fields = version.item?.fields ?? [:]
      open.removeAll { fields[origins[$0].name] != origins[$0].value }
      for index in open { (origins[index].sequence, origins[index].time) = (version.sequence, version.time) }
    }
    return origins
  }
}
