// Building a view in one pass over the current rows.

extension View {
  /// The view of a table's current rows. O(n log n).
  package init(_ definition: ViewDefinition, of table: Table) {
    self.init(empty: definition)
    var keys = SortedKeys()
    var key = PlacedKey()
    var writer = SortKeyWriter()
    table.forEachRow { row in
      key.place(row, by: definition, &writer)
      if let problem = key.problem { note(problem, for: row.id) }
      guard key.isShown else { return }
      keys.append(key)
      mark(row.id)
      guard definition.holdsValues else { return }
      key.bytes.withUnsafeBytes { bytes in
        insertValue(in: UnsafeRawBufferPointer(rebasing: bytes[..<key.sectionLength]), row.id, key.value)
      }
    }
    var builder = Tree.Builder(pageSize: TreePages.view)
    var counts: [(section: [UInt8], count: Int)] = []
    keys.forEachAscending { bytes, sectionLength, idLength in
      var lengths = ItemKey.lengths(section: sectionLength, id: idLength)
      withUnsafeBytes(of: &lengths) { builder.append(bytes, $0) }
      if let last = counts.last, last.section.count == sectionLength,
        last.section.withUnsafeBytes({ $0.hasSameBytes(as: .init(rebasing: bytes[..<sectionLength])) })
      {
        counts[counts.count - 1].count += 1
      } else {
        counts.append((Array(bytes[..<sectionLength]), 1))
      }
    }
    items = builder.finish()
    for (section, count) in counts {
      section.withUnsafeBytes { section in
        setCount(count, of: section)
        insertOrder(of: section)
      }
    }
    addDeclaredSections()
    assertAgreement()
  }
}
