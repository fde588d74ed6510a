// The rows of one table that the current event changed. They are put into the table when the event is over.

internal import StrataBase
internal import StrataDocuments

/// A row that the current event set or removed.
struct RowChange {
  enum Content {
    case removed
    /// Encoded at the end of the event.
    case row(DecodedRow)
    /// Encoded when it was set.
    case document([UInt8])
  }

  let id: String
  let hash: UInt64
  var content: Content
  /// Whether it was removed at some time during the event. If it exists again, it was created by the event.
  var wasRemoved: Bool
  /// The row's document in the bytes of `KeptRows`. Nil if the row is removed or is the one that the table has.
  var document: Range<Int>?

  var exists: Bool { if case .removed = content { false } else { true } }
}

/// The changed rows of a table, and those of its rows that are kept.
///
/// It belongs to one value of `ProjectionTables`: a copy of that value copies it before it changes it.
final class ChangedRows {
  /// Up to this number of changes, they are searched one after another.
  private static let searchedCountMax = 8

  /// Nil if rows are encoded when they are set and decoded when they are read: rows that are objects, and tables whose
  /// rows are read and written as several types.
  let type: RowType?
  let cache: RowCache
  /// In the order in which the rows were first changed.
  @exclusivity(unchecked) private(set) var changes: [RowChange] = []
  @exclusivity(unchecked) private var places: [RowID: Int] = [:]
  /// The changes whose effect on the number of rows is in `difference`.
  @exclusivity(unchecked) private var countedCount = 0
  @exclusivity(unchecked) private var difference = 0

  init(_ type: RowType?, _ cache: RowCache) {
    self.type = type
    self.cache = cache
  }

  /// Another object with the same changes.
  func copy() -> ChangedRows {
    let copy = ChangedRows(type, cache)
    (copy.changes, copy.places) = (changes, places)
    (copy.countedCount, copy.difference) = (countedCount, difference)
    return copy
  }

  /// Forgets all changes.
  func clear() {
    // An event that changes very many rows is rare.
    changes.removeAll(keepingCapacity: changes.capacity <= 64)
    if !places.isEmpty { places = [:] }
    (countedCount, difference) = (0, 0)
  }

  /// The place of a row among the changes.
  func place(of id: String) -> Int? {
    if changes.count > Self.searchedCountMax { return places[RowID(text: id)] }
    for place in changes.indices where changes[place].id.hasSameUTF8(as: id) { return place }
    return nil
  }

  /// Sets or removes a row.
  func set(_ id: String, _ content: RowChange.Content) {
    if let place = place(of: id) {
      let existed = changes[place].exists
      changes[place].content = content
      let exists = changes[place].exists
      if place < countedCount { difference += (exists ? 1 : 0) - (existed ? 1 : 0) }
      if !exists { changes[place].wasRemoved = true }
      return
    }
    var wasRemoved = false
    if case .removed = content { wasRemoved = true }
    changes.append(RowChange(id: id, hash: RowCache.hash(id), content: content, wasRemoved: wasRemoved))
    if changes.count == Self.searchedCountMax + 1 {
      for place in changes.indices { places[RowID(text: changes[place].id)] = place }
    } else if changes.count > Self.searchedCountMax {
      places[RowID(text: id)] = changes.count - 1
    }
  }

  /// The number of rows that the changes add to the table. `existed` says whether the table has a row; it is asked once
  /// for each row. Amortised O(1) for each change.
  func countDifference(_ existed: (String) -> Bool) -> Int {
    while countedCount < changes.count {
      let change = changes[countedCount]
      difference += (change.exists ? 1 : 0) - (existed(change.id) ? 1 : 0)
      countedCount += 1
    }
    return difference
  }
}

// MARK: The end of the event

extension ChangedRows {
  /// Encodes every row that may differ from the table's. Throws the reason why a row cannot be encoded.
  func encode(_ table: String, _ kept: KeptRows, recordsTouches: Bool) throws(RowProblem) {
    for place in changes.indices {
      switch changes[place].content {
      case .removed: break
      case .document(let document): changes[place].document = kept.add(document)
      case .row(let row):
        if !recordsTouches, cache.isStored(row, changes[place].id, changes[place].hash) { continue }
        changes[place].document = try kept.encode(row, changes[place].id, of: table)
      }
    }
  }

  /// Puts what was encoded into the table, and keeps it.
  func put(into table: inout Table, at stamp: Stamp, _ kept: KeptRows, _ scratch: FoldScratch) {
    for change in changes {
      var id = change.id
      guard let document = change.document else {
        guard !change.exists else { continue }
        id.withUTF8 { table.remove(id: UnsafeRawBufferPointer($0), scratch) }
        cache.remove(id, change.hash)
        continue
      }
      kept.withEncoded(document) { document in
        id.withUTF8 { id in
          let id = UnsafeRawBufferPointer(id)
          if change.wasRemoved, !table.holds(document, id: id) { table.remove(id: id, scratch) }
          table.put(id: id, document: document, at: stamp, scratch)
        }
        if case .row(let row) = change.content {
          cache.keep(row, change.id, change.hash, document, isEncoded: true)
        }
      }
    }
  }

  /// The same changes, encoded. Throws the reason why a row cannot be encoded.
  func encoded(_ table: String, _ kept: KeptRows) throws(RowProblem) -> ChangedRows {
    let rows = ChangedRows(nil, RowCache(countMax: 0))
    for change in changes {
      // The removal is noted too.
      if change.wasRemoved { rows.set(change.id, .removed) }
      switch change.content {
      case .removed: break
      case .document: rows.set(change.id, change.content)
      case .row(let row):
        let range = try kept.encode(row, change.id, of: table)
        kept.withEncoded(range) { rows.set(change.id, .document(Array($0))) }
      }
    }
    return rows
  }
}

/// A row's id. Ids are equal if their bytes are.
private struct RowID: Hashable {
  var text: String

  static func == (a: RowID, b: RowID) -> Bool { a.text.hasSameUTF8(as: b.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
