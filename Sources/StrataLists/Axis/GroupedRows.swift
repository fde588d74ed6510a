// The rows of a table by group: counts and sums that follow each change of a row.

internal import StrataDocuments
internal import StrataTables

/// Keeps of each row its id and the part of it that is counted, each distinct part once, and of each group a count and a
/// sum. A change of a row costs O(its part), whatever the number of rows and groups is. Belongs to one thread.
final class GroupedRows {
  /// What all rows with the same part have in common.
  private struct Part {
    var rowCount = 0
    /// The group of rows with this part.
    var group = GroupedRows.outside
    var number = Summand.nothing
  }

  private enum RowKind: UInt8 { case gone, refused, present }

  private struct Row {
    var part: UInt32 = 0
    var kind = RowKind.gone
    /// Whether it passes a filter that reads more than its part.
    var passes = true
  }

  /// The rows that are counted in one group.
  struct Group {
    /// The values of the fields.
    var key: [UInt8]
    var count = 0
    var sum = ExactSum()
    /// Whether it changed since `takeChanged`.
    fileprivate var isChanged = false
  }

  private let request: AxisRequest
  private let filter: CompiledFilter?
  private let filtersByRow: Bool
  /// Which members of documents are kept.
  let part: RowPart
  private var ids = ByteTable()
  private var rows: [Row] = []
  private var presentCount = 0
  private var keys = ByteTable()
  private var parts: [Part] = []
  private var usedPartCount = 0
  private var groupNumbers: [[UInt8]: Int] = [:]
  private(set) var groups: [Group] = []
  private var changed: [Int] = []
  private var writer = SortKeyWriter()
  /// The rows whose last event could not be applied.
  private(set) var refusedCount = 0
  /// The rows with an array or an object as a value of a group.
  private(set) var leftOutCount = 0

  /// Numbers of groups for rows that are in none: those that do not pass, and those that have no key.
  private static let (outside, leftOut) = (-1, -2)
  /// How many unused entries are kept at least.
  private static let spareCountMax = 4096

  init(_ request: AxisRequest) {
    self.request = request
    filter = request.filter?.compiled()
    filtersByRow = request.filtersByRow
    part = RowPart(request.paths, isWhole: request.filtersByStamp)
  }

  // MARK: Rows

  /// Sets a row to a part of its document.
  func set(_ id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ stamp: Stamp) {
    let number = row(id)
    let new = partNumber(bytes)
    let old = rows[number]
    guard old.kind != .present || old.part != UInt32(new) else { return }
    var row = Row(part: UInt32(new), kind: .present)
    if filtersByRow, let filter { row.passes = passes(filter, id, bytes, stamp) }
    rows[number] = row
    parts[new].rowCount += 1
    if parts[new].rowCount == 1 { usedPartCount += 1 }
    // Added first, so that the part of a row that keeps it stays in use.
    move(from: old, to: row)
    forget(old)
    if old.kind != .present { presentCount += 1 }
    prune()
  }

  /// Removes a row, if it is there.
  func remove(_ id: UnsafeRawBufferPointer, refused: Bool = false) {
    let number = row(id)
    let old = rows[number]
    rows[number] = Row(kind: refused ? .refused : .gone)
    if refused { refusedCount += 1 }
    if old.kind == .present {
      move(from: old, to: nil)
      presentCount -= 1
    }
    forget(old)
    prune()
  }

  /// Lends the part of a row; nil if the row is not there.
  func withPart<Result>(
    of id: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) -> Result
  ) -> Result {
    let row = rows[row(id)]
    guard row.kind == .present else { return body(nil) }
    return keys.withBytes(Int(row.part), body)
  }

  private func row(_ id: UnsafeRawBufferPointer) -> Int {
    let (number, isNew) = ids.number(of: id)
    if isNew { rows.append(Row()) }
    return number
  }

  private func forget(_ row: Row) {
    if row.kind == .refused { refusedCount -= 1 }
    guard row.kind == .present else { return }
    parts[Int(row.part)].rowCount -= 1
    if parts[Int(row.part)].rowCount == 0 { usedPartCount -= 1 }
  }

  private func passes(
    _ filter: CompiledFilter, _ id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer, _ stamp: Stamp
  ) -> Bool {
    let row = RowView(
      id: id, revision: stamp.sequence, created: stamp.sequence, time: stamp.time, document: bytes)
    return filter.matches(row) { .null }
  }

  /// Forgets the rows that are gone and the parts that no row has, once they are more than the others.
  private func prune() {
    if ids.count > 2 * (presentCount + refusedCount) + Self.spareCountMax {
      ids = ids.keeping { rows[$0].kind != .gone }
      rows.removeAll { $0.kind == .gone }
    }
    if keys.count > 2 * usedPartCount + max(Self.spareCountMax, rows.count / 4) {
      keys = keys.keeping { parts[$0].rowCount > 0 }
      var (numbers, next) = ([UInt32](repeating: 0, count: parts.count), UInt32(0))
      for number in parts.indices where parts[number].rowCount > 0 {
        numbers[number] = next
        next += 1
      }
      for number in rows.indices where rows[number].kind == .present {
        rows[number].part = numbers[Int(rows[number].part)]
      }
      parts.removeAll { $0.rowCount == 0 }
    }
  }

  // MARK: Groups

  private func group(of row: Row?) -> Int {
    guard let row, row.kind == .present, row.passes else { return Self.outside }
    return parts[Int(row.part)].group
  }

  private func move(from old: Row, to new: Row?) {
    let (from, to) = (group(of: old), group(of: new))
    if from == Self.leftOut { leftOutCount -= 1 }
    if to == Self.leftOut { leftOutCount += 1 }
    if from >= 0 {
      noteChanged(from)
      groups[from].count -= 1
      groups[from].sum.remove(parts[Int(old.part)].number)
    }
    if to >= 0, let new {
      noteChanged(to)
      groups[to].count += 1
      groups[to].sum.add(parts[Int(new.part)].number)
    }
  }

  /// Notes that a group is not what it was at the last `takeChanged`.
  func noteChanged(_ group: Int) {
    guard !groups[group].isChanged else { return }
    groups[group].isChanged = true
    changed.append(group)
  }

  /// The groups that changed since the last call.
  private func takeChanged() -> [Int] {
    defer { changed.removeAll(keepingCapacity: true) }
    for group in changed { groups[group].isChanged = false }
    return changed
  }

  /// What the groups are now that changed since the last call.
  func takeChanges() -> [TimeAxis.Change] {
    takeChanged().map { number in
      let group = groups[number]
      return TimeAxis.Change(
        group: number, count: group.count, sum: request.sum == nil ? nil : group.sum.value,
        notFiniteCount: group.sum.notFiniteCount, notNumberCount: group.sum.notNumberCount)
    }
  }

  private func partNumber(_ bytes: UnsafeRawBufferPointer) -> Int {
    let (number, isNew) = keys.number(of: bytes)
    if isNew { parts.append(newPart(bytes)) }
    return number
  }

  private func newPart(_ bytes: UnsafeRawBufferPointer) -> Part {
    var part = Part()
    if let filter, !filtersByRow {
      let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
      guard passes(filter, nothing, bytes, Stamp(sequence: 0, time: 0)) else { return part }
    }
    writer.removeAll()
    do throws(SortKeyError) {
      for path in request.by { try writer.append(documentValue: path.find(in: bytes)) }
    } catch {
      part.group = Self.leftOut
      return part
    }
    part.group = groupNumber(writer.bytes)
    if let sum = request.sum, let item = sum.find(in: bytes) {
      part.number = (try? DocumentValue(cbor: item)).map { Summand($0) } ?? .notNumber
    }
    return part
  }

  private func groupNumber(_ key: [UInt8]) -> Int {
    if let number = groupNumbers[key] { return number }
    groupNumbers[key] = groups.count
    groups.append(Group(key: key))
    return groups.count - 1
  }
}
