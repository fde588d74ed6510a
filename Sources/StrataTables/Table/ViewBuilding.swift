// Building a view from the rows of a table: their keys are made on all processors, and the trees from sorted keys.

package import StrataBase
internal import Synchronization

extension View {
  /// The view of a table's current rows. O(n log n).
  ///
  /// - Parameters:
  ///   - parallel: where keys are made if there are many rows.
  ///   - partCount: the number of parts of the table that are placed one by one; nil for as many as are useful.
  package init(
    _ definition: ViewDefinition, of table: Table, on parallel: Parallel = .none, partCount: Int? = nil
  ) {
    let building = ViewBuilding(definition, of: table, on: parallel, partCount: partCount)
    var view: View?
    while view == nil { view = building.resume(TimeSlice()) }
    self = view.unsafelyUnwrapped
  }
}

/// A view that is built from one version of a table, in slices.
///
/// The keys of the rows are made and sorted in parts, on all processors, and the parts are then merged into trees.
/// Belongs to one thread at a time, except for `progress`.
package final class ViewBuilding: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.

  /// The number of rows of a part. Their keys fit into a processor's cache while they are sorted, and are made between
  /// two looks at the slice.
  private static let partSize = 8_192
  /// The number of rows from which several threads make the keys. Fewer rows are not worth a thread.
  private static let parallelCountMin = 4_096
  /// The number of keys that are merged between two looks at the slice.
  private static let mergeSize = 4_096

  package let definition: ViewDefinition
  /// The rows that the view is of.
  package let rows: Tree
  private let table: Table
  /// The ids of the rows that it may show or report, ascending; nil for all rows.
  private let ids: [[UInt8]]?
  private let count: Int
  private let parallel: Parallel
  private let partCount: Int
  private let parts: Lock<Parts>
  private var merging: Merging?
  private let doneCount = Atomic(0)

  private struct Parts {
    var next = 0
    var placed: [PlacedRows?]
    var isComplete: Bool { placed.allSatisfy { $0 != nil } }
  }

  package init(_ definition: ViewDefinition, of table: Table, on parallel: Parallel, partCount: Int? = nil) {
    self.definition = definition
    rows = table.rows
    self.table = table
    ids = definition.candidates?(table.indexes, table.count)
    count = ids?.count ?? table.count
    self.parallel = parallel
    let fewest = count < Self.parallelCountMin ? 1 : parallel.threadCountMax
    self.partCount = partCount ?? max(fewest, (count + Self.partSize / 2) / Self.partSize)
    parts = Lock(Parts(placed: Array(repeating: nil, count: self.partCount)))
  }

  /// How many of the rows are done. Each row is one half done when its key is made. May be read by any thread.
  package var progress: (done: Int, of: Int) {
    (doneCount.load(ordering: .relaxed) / 2, count)
  }

  /// Goes on for a slice, and for at least a step. Returns the view once it is complete, and nil before that.
  package func resume(_ slice: TimeSlice) -> View? {
    if merging == nil {
      parallel.forEach(below: min(parallel.threadCountMax, partCount)) { _ in
        repeat {} while placePart() && !slice.isOver
      }
      guard let placed = parts.withLock({ $0.isComplete ? $0.placed.compactMap { $0 } : nil }) else {
        return nil
      }
      parts.withLock { $0.placed = [] }
      merging = Merging(placed, definition)
    }
    repeat {
      let count = merging!.resume(Self.mergeSize)
      guard count > 0 else { return merging.take()!.finish() }
      doneCount.add(count, ordering: .relaxed)
    } while !slice.isOver
    return nil
  }

  /// Makes the keys of the next part. Returns false if there is none.
  private func placePart() -> Bool {
    let number = parts.withLock { parts -> Int? in
      guard parts.next < parts.placed.count else { return nil }
      defer { parts.next += 1 }
      return parts.next
    }
    guard let number else { return false }
    let range = count * number / partCount..<count * (number + 1) / partCount
    let placed: PlacedRows
    if let ids {
      let found = table.rows(withIDs: ids[range])
      placed = PlacedRows(found, 0..<found.count, definition)
    } else {
      placed = PlacedRows(rows, range, definition)
    }
    parts.withLock { $0.placed[number] = placed }
    doneCount.add(range.count, ordering: .relaxed)
    return true
  }
}

/// The keys of some rows of a table, and the problems of the others.
private struct PlacedRows: Sendable {
  var keys = SortedKeys()
  var problems: [(id: [UInt8], problem: RowProblem)] = []

  init(_ rows: Tree, _ range: Range<Int>, _ definition: ViewDefinition) {
    var key = PlacedKey()
    var writer = SortKeyWriter()
    var few = FewRows()
    var start = range.lowerBound
    while start < range.upperBound {
      start += few.read(rows, start..<range.upperBound)
      few.forEach { id, value in
        key.place(StoredRow.view(id: id, value), by: definition, &writer)
        if let problem = key.report { problems.append((Array(id), problem)) }
        if key.isShown { keys.append(key) }
      }
    }
    keys.sort()
  }
}

/// A copy of a few rows of a tree. The program's code may take its time over them: while a tree is read, no page that
/// is dropped anywhere in the process is freed.
private struct FewRows: ~Copyable {
  private static let countMax = 64
  private static let byteCountMax = 1 << 18

  private struct IsEnough: Error {}

  private var bytes = RawBuffer(capacity: 1 << 14)
  private var lengths: [(id: Int, value: Int)] = []

  /// Copies the first rows of a range, and returns how many.
  mutating func read(_ rows: Tree, _ range: Range<Int>) -> Int {
    bytes.removeAll()
    lengths.removeAll(keepingCapacity: true)
    let end = min(range.upperBound, range.lowerBound + Self.countMax)
    do throws(IsEnough) {
      try rows.forEach(in: range.lowerBound..<end) { (id, value) throws(IsEnough) in
        bytes.append(id)
        bytes.append(value)
        lengths.append((id.count, value.count))
        if bytes.count >= Self.byteCountMax { throw IsEnough() }
      }
    } catch {}
    return lengths.count
  }

  /// Lends the rows that were copied.
  func forEach(_ body: (_ id: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
    var offset = 0
    for length in lengths {
      let value = offset + length.id
      body(
        UnsafeRawBufferPointer(start: bytes.base + offset, count: length.id),
        UnsafeRawBufferPointer(start: bytes.base + value, count: length.value))
      offset = value + length.value
    }
  }
}

/// The merging of sorted keys into the trees of a view.
private struct Merging: ~Copyable {
  private var merge: SortedKeys.Merge
  /// The view with its problems alone.
  private let view: View
  private var items = Tree.Builder(pageSize: TreePages.view)
  private var beside: BesideItems
  private var counts: [(section: [UInt8], count: Int)] = []

  init(_ parts: [PlacedRows], _ definition: ViewDefinition) {
    beside = BesideItems(definition)
    merge = SortedKeys.Merge(parts.map(\.keys))
    var view = View(empty: definition)
    for (id, problem) in parts.lazy.flatMap(\.problems) {
      id.withUnsafeBytes { view.note(problem, for: $0) }
    }
    self.view = view
  }

  /// Appends the next keys. Returns how many there were; fewer than `countMax` at the end.
  mutating func resume(_ countMax: Int) -> Int {
    var count = 0
    while count < countMax, let key = merge.next() {
      count += 1
      var lengths = ItemKey.lengths(section: key.sectionLength, id: key.idLength)
      withUnsafeBytes(of: &lengths) { items.append(key.bytes, $0) }
      let isSameSection = counts.last.map { $0.section.withUnsafeBytes { $0.hasSameBytes(as: key.section) } }
      if isSameSection == true {
        counts[counts.count - 1].count += 1
      } else {
        counts.append((Array(key.section), 1))
        beside.endSection()
      }
      beside.append(key)
    }
    return count
  }

  consuming func finish() -> View {
    var view = view
    view.items = items.finish()
    (view.values, view.marks) = beside.finish()
    for (section, count) in counts {
      section.withUnsafeBytes { section in
        view.setCount(count, of: section)
        view.insertOrder(of: section)
      }
    }
    view.addDeclaredSections()
    view.assertAgreement()
    return view
  }
}

/// The trees beside the items of a view that is built: values and marks, if the definition needs them.
private struct BesideItems: ~Copyable {
  private let definition: ViewDefinition
  private var values = Tree.Builder(pageSize: TreePages.view)
  /// The values of the current section's items, as keys of the tree, with the lengths of their ids.
  private var ofSection: [(key: [UInt8], lengths: (UInt16, UInt16))] = []
  private var hashes: [UInt64] = []

  init(_ definition: ViewDefinition) { self.definition = definition }

  mutating func append(_ key: SortedKeys.Key) {
    if definition.calls == .filters { hashes.append(XXH64.of(key.id)) }
    guard definition.holdsValues else { return }
    let lengths = ItemKey.lengths(section: key.sectionLength, id: key.idLength)
    ofSection.append((View.valueKey(in: key.section, key.id, key.value), lengths))
  }

  /// To be called when all items of a section were appended. The sections ascend.
  mutating func endSection() {
    ofSection.sort { a, b in
      a.key.withUnsafeBytes { a in b.key.withUnsafeBytes { a.order($0) < 0 } }
    }
    for (key, lengths) in ofSection {
      var lengths = lengths
      key.withUnsafeBytes { key in withUnsafeBytes(of: &lengths) { values.append(key, $0) } }
    }
    ofSection.removeAll(keepingCapacity: true)
  }

  consuming func finish() -> (values: Tree, marks: Tree) {
    endSection()
    hashes.sort()
    var marks = Tree.Builder(pageSize: TreePages.view)
    var start = 0
    while start < hashes.count {
      let end = hashes[start...].firstIndex { $0 != hashes[start] } ?? hashes.count
      var count = UInt32(end - start).littleEndian
      withUnsafeBytes(of: hashes[start].bigEndian) { hash in
        withUnsafeBytes(of: &count) { marks.append(hash, $0) }
      }
      start = end
    }
    return (values.finish(), marks.finish())
  }
}

extension View {
  /// A view with items that were placed before, and the sections that they are in, ascending. O(sections), and
  /// O(sections · log n) if they have another order than that of their keys.
  package init(
    _ definition: ViewDefinition, items: Tree, values: Tree?, problems: Tree,
    _ sections: [(section: [UInt8], count: Int)]
  ) {
    self.init(empty: definition)
    self.items = items
    if let values { self.values = values }
    self.problems = problems
    var counts = Tree.Builder(pageSize: TreePages.sections)
    for (section, count) in sections {
      var count = UInt64(count).littleEndian
      section.withUnsafeBytes { section in withUnsafeBytes(of: &count) { counts.append(section, $0) } }
    }
    self.sections = counts.finish()
    if !definition.isOrderedByKey {
      for (section, _) in sections { section.withUnsafeBytes { insertOrder(of: $0) } }
    }
    addDeclaredSections()
  }
}
