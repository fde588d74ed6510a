// The rows of one table that events changed and that are not in its tree yet.

internal import CStrata
internal import StrataBase

/// The newest versions of rows that events changed, until they are put into their table together, in order of ids.
///
/// Putting a row into a tree costs a descent, and while a fold catches up, many rows change again within a few hundred
/// events. What a table then holds is what it would hold if each event had put its own rows: a row's revision, time and
/// creation are those of the events that changed, removed and created it.
///
/// It belongs to one value of `ProjectionTables`: a copy of that value copies it before it changes it.
package final class UnplacedRows {
  /// With this number of rows or of bytes, the rows of a fold are put into their table.
  package static let countMax = 4_096
  static let byteCountMax = 1 << 20

  private struct Row {
    enum Change: UInt8 {
      /// Set once. Whether that changes the row, the table decides.
      case set
      /// Changed once more after it was set. If the table does not have it, it was created when it was first set.
      case changed
      /// Created after it was removed.
      case created
      case removed
    }

    var hash: UInt64
    var change: Change
    /// The sequence of the event that first set it or created it.
    var created: UInt64
    /// Where its id and its value are among the bytes, and how many bytes the value may take.
    var id: Range<Int>
    var value: Range<Int>
    var valueRoom: Int
  }

  private let countMax: Int
  @exclusivity(unchecked) private(set) var count = 0
  @exclusivity(unchecked) private var rows: UnsafeMutablePointer<Row>
  @exclusivity(unchecked) private var rowCapacity = 4
  /// The indices of rows by their hashes, each with one added; 0 where there is none. At least twice as many as rows.
  @exclusivity(unchecked) private var slots: UnsafeMutablePointer<UInt32>
  @exclusivity(unchecked) private var slotCount = 8
  /// The ids, and the values as the tree holds them: see `StoredRow`.
  @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var byteCount = 0
  @exclusivity(unchecked) private var byteCapacity = 512
  /// The rows whose effect on the number of rows is in `difference`.
  @exclusivity(unchecked) private var countedCount = 0
  @exclusivity(unchecked) private var difference = 0

  init(countMax: Int) {
    self.countMax = countMax
    rows = .allocate(capacity: rowCapacity)
    slots = .allocate(capacity: slotCount)
    slots.initialize(repeating: 0, count: slotCount)
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }

  deinit { freeMemory() }

  private func freeMemory() {
    rows.deallocate()
    slots.deallocate()
    bytes.deallocate()
  }

  var isFull: Bool { count >= countMax || byteCount >= Self.byteCountMax }

  /// Another object without rows.
  func another() -> UnplacedRows { UnplacedRows(countMax: countMax) }

  /// Another object with the same rows.
  func copy() -> UnplacedRows {
    let copy = another()
    for index in 0..<count {
      let new = copy.append(rows[index].hash, id(index), valueLength: rows[index].value.count)
      copy.rows[new].change = rows[index].change
      copy.rows[new].created = rows[index].created
      let start = copy.rows[new].value.lowerBound
      copy.rows[new].value = start..<start + rows[index].value.count
      copy.stored(new).copyMemory(from: UnsafeRawBufferPointer(stored(index)))
    }
    (copy.countedCount, copy.difference) = (countedCount, difference)
    return copy
  }

  /// Forgets all rows.
  func removeAll() {
    if 4 * count > slotCount {
      slots.update(repeating: 0, count: slotCount)
    } else {
      // Each row is in the run of slots that begins at its hash.
      for index in 0..<count {
        var slot = Int(truncatingIfNeeded: rows[index].hash) & (slotCount &- 1)
        while slots[slot] != 0 {
          slots[slot] = 0
          slot = (slot &+ 1) & (slotCount &- 1)
        }
      }
    }
    (count, byteCount, countedCount, difference) = (0, 0, 0, 0)
    // An event that writes very much is rare.
    guard byteCapacity > 2 * Self.byteCountMax || rowCapacity > 2 * Self.countMax else { return }
    freeMemory()
    (rowCapacity, slotCount, byteCapacity) = (4, 8, 512)
    rows = .allocate(capacity: rowCapacity)
    slots = .allocate(capacity: slotCount)
    slots.initialize(repeating: 0, count: slotCount)
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }
}

// MARK: Reading

extension UnplacedRows {
  /// A row that is not in its table yet, or was removed.
  enum Found {
    case removed
    /// Valid until the rows change.
    case document(UnsafeRawBufferPointer)
  }

  /// The newest version of a row; nil if it is the one that the table has.
  @inline(__always)
  func find(_ id: UnsafeRawBufferPointer, _ hash: @autoclosure () -> UInt64) -> Found? {
    guard count > 0, let index = index(of: id, hash()) else { return nil }
    return rows[index].change == .removed ? .removed : .document(document(index))
  }

  /// The number of rows that these add to the table. Each is looked up in the table once. Amortised O(log n) for each
  /// row.
  func countDifference(_ table: borrowing Table) -> Int {
    while countedCount < count {
      let isInTable = table.rows.contains(id(countedCount))
      difference += (rows[countedCount].change != .removed ? 1 : 0) - (isInTable ? 1 : 0)
      countedCount += 1
    }
    return difference
  }

  /// Lends the id of every row, in no particular order, and whether the row exists.
  func forEachID(_ body: (_ id: UnsafeRawBufferPointer, _ exists: Bool) -> Void) {
    for index in 0..<count { body(id(index), rows[index].change != .removed) }
  }

  @inline(__always)
  private func id(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + rows[index].id.lowerBound, count: rows[index].id.count)
  }

  @inline(__always)
  private func stored(_ index: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: bytes + rows[index].value.lowerBound, count: rows[index].value.count)
  }

  @inline(__always)
  private func document(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: stored(index)[StoredRow.headLength...])
  }

  private func index(of id: UnsafeRawBufferPointer, _ hash: UInt64) -> Int? {
    var slot = Int(truncatingIfNeeded: hash) & (slotCount &- 1)
    while slots[slot] != 0 {
      let index = Int(slots[slot]) &- 1
      if rows[index].hash == hash, self.id(index).hasSameBytes(as: id) { return index }
      slot = (slot &+ 1) & (slotCount &- 1)
    }
    return nil
  }
}

// MARK: Prefetching

/// While many events are folded in, the rows are more than fit into a processor's nearest cache, and `set` would wait for
/// each step of its search. So the first step is taken before the row is encoded, and the next one after that.
extension UnplacedRows {
  /// Begins to load the entry of a row, if it has one.
  @inline(__always)
  func prefetchRow(_ hash: UInt64) {
    guard count > 0 else { return }
    let slot = slots[Int(truncatingIfNeeded: hash) & (slotCount &- 1)]
    if slot != 0 { strata_prefetch(rows + (Int(slot) &- 1)) }
  }

  /// Begins to load the value of a row whose entry was prefetched.
  @inline(__always)
  func prefetchValue(_ hash: UInt64) {
    guard count > 0 else { return }
    let slot = Int(slots[Int(truncatingIfNeeded: hash) & (slotCount &- 1)])
    guard slot != 0, rows[slot &- 1].hash == hash else { return }
    let value = bytes + rows[slot &- 1].value.lowerBound
    strata_prefetch(value)
    strata_prefetch(value + 64)
    strata_prefetch(value + 128)
  }
}

// MARK: Changing

extension UnplacedRows {
  /// Sets a row to a document at the end of an event.
  ///
  /// - Parameters:
  ///   - wasRemoved: whether the event removed the row before.
  ///   - isInTable: whether the table has the row with exactly this document. Asked only if the event removed the row,
  ///     and none of these rows is that row.
  func set(
    _ id: UnsafeRawBufferPointer, _ hash: UInt64, to document: UnsafeRawBufferPointer, at stamp: Stamp,
    wasRemoved: Bool, recordsTouches: Bool, isInTable: () -> Bool
  ) {
    guard let index = index(of: id, hash) else {
      let isCreated = wasRemoved && !isInTable()
      let new = append(hash, id, valueLength: StoredRow.headLength + document.count)
      return write(document, isCreated ? .created : .set, created: stamp.sequence, at: stamp, new)
    }
    let old = rows[index].change
    let isSame = old != .removed && self.document(index).hasSameBytes(as: document)
    if isSame, !recordsTouches { return }
    if old == .removed || wasRemoved && !isSame {
      if index < countedCount, old == .removed { difference += 1 }
      write(document, .created, created: stamp.sequence, at: stamp, index)
    } else {
      write(document, old == .created ? .created : .changed, created: rows[index].created, at: stamp, index)
    }
  }

  /// Removes a row at the end of an event.
  func remove(_ id: UnsafeRawBufferPointer, _ hash: UInt64) {
    let index = index(of: id, hash) ?? append(hash, id, valueLength: 0)
    if index < countedCount, rows[index].change != .removed { difference -= 1 }
    rows[index].change = .removed
  }

  private func write(
    _ document: UnsafeRawBufferPointer, _ change: Row.Change, created: UInt64, at stamp: Stamp, _ index: Int
  ) {
    let length = StoredRow.headLength + document.count
    let isRoom = length <= rows[index].valueRoom
    let start = isRoom ? rows[index].value.lowerBound : reserve(length)
    rows[index].change = change
    rows[index].value = start..<start + length
    if !isRoom { rows[index].valueRoom = length }
    StoredRow.write(
      revision: stamp.sequence, created: created, time: stamp.time, document, to: stored(index))
    rows[index].created = created
  }

  /// Adds a row, with room for its value, and returns its index.
  private func append(_ hash: UInt64, _ id: UnsafeRawBufferPointer, valueLength: Int) -> Int {
    if count == rowCapacity { growRows() }
    if 2 * (count + 1) > slotCount { growSlots() }
    let start = reserve(id.count + valueLength)
    if let base = id.baseAddress { (bytes + start).copyMemory(from: base, byteCount: id.count) }
    let value = start + id.count
    (rows + count).initialize(
      to: Row(
        hash: hash, change: .removed, created: 0, id: start..<value, value: value..<value,
        valueRoom: valueLength)
    )
    link(count)
    count += 1
    return count - 1
  }

  private func link(_ index: Int) {
    var slot = Int(truncatingIfNeeded: rows[index].hash) & (slotCount &- 1)
    while slots[slot] != 0 { slot = (slot &+ 1) & (slotCount &- 1) }
    slots[slot] = UInt32(index + 1)
  }

  private func growRows() {
    let larger = UnsafeMutablePointer<Row>.allocate(capacity: rowCapacity * 2)
    larger.moveInitialize(from: rows, count: count)
    rows.deallocate()
    rows = larger
    rowCapacity *= 2
  }

  private func growSlots() {
    slots.deallocate()
    slotCount *= 2
    slots = .allocate(capacity: slotCount)
    slots.initialize(repeating: 0, count: slotCount)
    for index in 0..<count { link(index) }
  }

  /// Makes room for bytes, and returns where they begin.
  private func reserve(_ length: Int) -> Int {
    if byteCapacity - byteCount < length {
      let capacity = max(2 * byteCapacity, byteCount + length)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
      larger.copyMemory(from: bytes, byteCount: byteCount)
      bytes.deallocate()
      (bytes, byteCapacity) = (larger, capacity)
    }
    byteCount += length
    return byteCount - length
  }
}

// MARK: Putting them into the table

extension UnplacedRows {
  /// Puts all rows into their table, and keeps them too.
  func place(into table: inout Table, _ scratch: FoldScratch) {
    for index in indicesInOrder() {
      let id = id(index)
      switch rows[index].change {
      case .removed: table.remove(id: id, scratch)
      case .set: table.put(id: id, stored: stored(index), .ifOther, scratch)
      case .changed: table.put(id: id, stored: stored(index), .changed, scratch)
      case .created: table.put(id: id, stored: stored(index), .created, scratch)
      }
    }
  }

  /// The indices of all rows in ascending order of their ids, so that neighbours in the tree follow each other.
  private func indicesInOrder() -> [Int] {
    if count == 1 { return [0] }
    var order: [(prefix: UInt64, index: Int)] = (0..<count).map { (prefix(of: id($0)), $0) }
    order.sort { a, b in
      if a.prefix != b.prefix { return a.prefix < b.prefix }
      return id(a.index).order(id(b.index)) < 0
    }
    return order.map(\.index)
  }

  /// The first eight bytes of an id as a number, padded with zeros.
  private func prefix(of id: UnsafeRawBufferPointer) -> UInt64 {
    if id.count >= 8 { return UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)) }
    var prefix: UInt64 = 0
    for byte in id { prefix = prefix << 8 | UInt64(byte) }
    return prefix << UInt64(8 * (8 - id.count))
  }
}
