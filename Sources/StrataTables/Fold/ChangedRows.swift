// The rows of one table that the current event changed. They are put among its unplaced rows at the event's end.

internal import StrataBase
internal import StrataDocuments

/// A row that the current event set or removed.
struct RowChange {
  package enum Content {
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
  /// In the order in which the rows were first changed: the first `changeCount` of this memory.
  @exclusivity(unchecked) private var memory: UnsafeMutablePointer<RowChange>
  @exclusivity(unchecked) private var capacity = 4
  @exclusivity(unchecked) private(set) var changeCount = 0
  /// Whether a row was removed, even if it was set again.
  @exclusivity(unchecked) private(set) var hasRemovals = false
  @exclusivity(unchecked) private var indices: [RowID: Int] = [:]
  /// The changes whose effect on the number of rows is in `difference`.
  @exclusivity(unchecked) private var countedCount = 0
  @exclusivity(unchecked) private var difference = 0

  init(_ type: RowType?, _ cache: RowCache) {
    self.type = type
    self.cache = cache
    memory = .allocate(capacity: capacity)
  }

  deinit { memory.deinitialize(count: changeCount).deallocate() }

  /// Valid until the next change.
  @inline(__always)
  var changes: UnsafeMutableBufferPointer<RowChange> {
    UnsafeMutableBufferPointer(start: memory, count: changeCount)
  }

  private func append(_ change: RowChange) {
    if changeCount == capacity { move(toMemoryFor: capacity * 2) }
    (memory + changeCount).initialize(to: change)
    changeCount += 1
  }

  private func move(toMemoryFor count: Int) {
    let other = UnsafeMutablePointer<RowChange>.allocate(capacity: count)
    other.moveInitialize(from: memory, count: changeCount)
    memory.deallocate()
    (memory, capacity) = (other, count)
  }

  /// Another object with the same changes.
  func copy() -> ChangedRows {
    let copy = ChangedRows(type, cache)
    for change in changes { copy.append(change) }
    (copy.indices, copy.hasRemovals) = (indices, hasRemovals)
    (copy.countedCount, copy.difference) = (countedCount, difference)
    return copy
  }

  /// Forgets all changes.
  func clear() {
    memory.deinitialize(count: changeCount)
    (changeCount, hasRemovals) = (0, false)
    // An event that changes very many rows is rare.
    if capacity > 64 { move(toMemoryFor: 4) }
    if !indices.isEmpty { indices = [:] }
    (countedCount, difference) = (0, 0)
  }

  /// The index of a row among the changes.
  func index(of id: String) -> Int? {
    if changeCount > Self.searchedCountMax { return indices[RowID(text: id)] }
    for index in 0..<changeCount where memory[index].id.hasSameUTF8(as: id) { return index }
    return nil
  }

  /// Sets or removes a row.
  func set(_ id: String, _ content: RowChange.Content) {
    if case .removed = content { hasRemovals = true }
    if let index = index(of: id) {
      let existed = memory[index].exists
      memory[index].content = content
      let exists = memory[index].exists
      if index < countedCount { difference += (exists ? 1 : 0) - (existed ? 1 : 0) }
      if !exists { memory[index].wasRemoved = true }
      return
    }
    var wasRemoved = false
    if case .removed = content { wasRemoved = true }
    append(RowChange(id: id, hash: cache.hash(of: id), content: content, wasRemoved: wasRemoved))
    if changeCount == Self.searchedCountMax + 1 {
      for index in 0..<changeCount { indices[RowID(text: memory[index].id)] = index }
    } else if changeCount > Self.searchedCountMax {
      indices[RowID(text: id)] = changeCount - 1
    }
  }

  /// The number of rows that the changes add to the table. `existed` says whether there was a row; it is asked once
  /// for each row. Amortised O(1) for each change.
  func countDifference(_ existed: (_ id: String, _ hash: UInt64) -> Bool) -> Int {
    while countedCount < changeCount {
      let (id, hash) = (memory[countedCount].id, memory[countedCount].hash)
      difference += (memory[countedCount].exists ? 1 : 0) - (existed(id, hash) ? 1 : 0)
      countedCount += 1
    }
    return difference
  }
}

// MARK: The end of the event

extension ChangedRows {
  /// Encodes every row that may differ from the table's. Throws the reason why a row cannot be encoded.
  ///
  /// - Parameters:
  ///   - unplaced: where `put` will put them.
  ///   - mayCompare: whether the cache knows what the table has, and a row need not be encoded to be compared.
  func encode(
    for unplaced: UnplacedRows, of table: String, _ kept: KeptRows, mayCompare: Bool
  ) throws(RowProblem) {
    let changes = changes
    for index in changes.indices {
      let hash = changes[index].hash
      unplaced.prefetchRow(hash)
      // A copy of the tables may have been encoded at the end of its own event.
      changes[index].document = nil
      switch changes[index].content {
      case .removed: break
      case .document(let document): changes[index].document = kept.add(document)
      case .row(let row):
        if mayCompare, cache.isStored(row, changes[index].id, hash) { continue }
        changes[index].document = try kept.encode(row, changes[index].id, of: table)
      }
      unplaced.prefetchValue(hash)
    }
  }

  /// Adds what was encoded to the rows that are to be put into the table, and keeps it.
  ///
  /// - Parameter table: the table without those rows. Needed only if `hasRemovals`.
  func put(
    into unplaced: UnplacedRows, of table: Table?, recordsTouches: Bool, at stamp: Stamp, _ kept: KeptRows
  ) {
    let changes = changes
    for index in changes.indices {
      let hash = changes[index].hash
      var id = changes[index].id
      guard let range = changes[index].document else {
        guard !changes[index].exists else { continue }
        id.withUTF8 { unplaced.remove(UnsafeRawBufferPointer($0), hash) }
        cache.remove(id, hash)
        continue
      }
      let document = kept.encoded(range)
      let wasRemoved = changes[index].wasRemoved
      id.withUTF8 { id in
        let id = UnsafeRawBufferPointer(id)
        unplaced.set(
          id, hash, to: document, at: stamp, wasRemoved: wasRemoved, recordsTouches: recordsTouches
        ) { table?.holds(document, id: id) ?? false }
      }
      if case .row(let row) = changes[index].content {
        cache.keep(row, id, hash, document, isEncoded: true)
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
        rows.set(change.id, .document(Array(kept.encoded(range))))
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
