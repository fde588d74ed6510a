// Building a view from the current rows: their keys are made on all processors, and the trees from sorted keys.

package import StrataBase

extension View {
  /// The number of rows from which several threads make the keys. Fewer rows are not worth a thread.
  private static let parallelCountMin = 4_096

  /// The view of a table's current rows. O(n log n).
  ///
  /// - Parameters:
  ///   - parallel: where keys are made if there are many rows.
  ///   - partCount: the number of parts of the table that are placed at the same time. By default there is one for each
  ///     thread, and only one for a table of few rows.
  package init(
    _ definition: ViewDefinition, of table: Table, on parallel: Parallel = .none, partCount: Int? = nil
  ) {
    self.init(empty: definition)
    let partCount = partCount ?? (table.count < Self.parallelCountMin ? 1 : parallel.threadCountMax)
    let parts = PlacedRows.all(of: table, by: definition, on: parallel, partCount: partCount)
    for (id, problem) in parts.lazy.flatMap(\.problems) {
      id.withUnsafeBytes { note(problem, for: $0) }
    }
    var items = Tree.Builder(pageSize: TreePages.view)
    var beside = BesideItems(definition)
    var counts: [(section: [UInt8], count: Int)] = []
    SortedKeys.forEachAscending(parts.map(\.keys)) { key in
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
    self.items = items.finish()
    (values, marks) = beside.finish()
    for (section, count) in counts {
      section.withUnsafeBytes { section in
        setCount(count, of: section)
        insertOrder(of: section)
      }
    }
    addDeclaredSections()
    assertAgreement()
  }

  /// The keys of some rows of a table, and the problems of the others.
  private struct PlacedRows: Sendable {
    var keys = SortedKeys()
    var problems: [(id: [UInt8], problem: RowProblem)] = []

    /// All rows of a table, in parts. The definition's function is called on several threads at the same time.
    static func all(of table: Table, by definition: ViewDefinition, on parallel: Parallel, partCount: Int)
      -> [PlacedRows]
    {
      let parts = Lock([PlacedRows?](repeating: nil, count: partCount))
      parallel.forEach(below: partCount) { part in
        let range = table.count * part / partCount..<table.count * (part + 1) / partCount
        let placed = PlacedRows(table, range, definition)
        parts.withLock { $0[part] = placed }
      }
      return parts.withLock { $0.compactMap { $0 } }
    }

    private init(_ table: Table, _ range: Range<Int>, _ definition: ViewDefinition) {
      var key = PlacedKey()
      var writer = SortKeyWriter()
      table.rows.forEach(in: range) { id, value in
        key.place(StoredRow.view(id: id, value), by: definition, &writer)
        if let problem = key.problem { problems.append((Array(id), problem)) }
        if key.isShown { keys.append(key) }
      }
      keys.sort()
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
}
