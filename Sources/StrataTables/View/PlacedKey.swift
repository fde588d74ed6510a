// The position of a row in a view.

/// A row's key in a view: section ‖ sort keys ‖ id.
package struct PlacedKey: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// The length of the section in bytes.
  package private(set) var sectionLength = 0
  /// The length of the id in bytes, at the end of the key.
  package private(set) var idLength = 0
  /// The value that the section's position depends on; only for a view that holds values.
  package private(set) var value: [UInt8] = []
  /// False if there was no row to place.
  package private(set) var isOfRow = false
  /// False for a row that the view does not show.
  package private(set) var isShown = false
  /// Why the row is not shown although it should be.
  package private(set) var problem: RowProblem?

  package init() {}

  mutating func clear() {
    isOfRow = false
    isShown = false
    problem = nil
  }

  /// Computes the key of a row. Without a row, nothing is shown.
  package mutating func place(
    _ row: RowView?, by definition: ViewDefinition, _ writer: inout SortKeyWriter
  ) {
    clear()
    guard let row else { return }
    isOfRow = true
    writer.removeAll()
    do throws(RowProblem) {
      guard let lengths = try definition.place(row, &writer) else { return }
      guard writer.count + row.id.count <= ViewDefinition.keyLengthMax else {
        throw RowProblem(
          what:
            "section and sort keys take \(writer.count) bytes; the limit with the id is \(ViewDefinition.keyLengthMax)"
        )
      }
      let end = writer.count - lengths.value
      bytes.removeAll(keepingCapacity: true)
      writer.withUnsafeBytes { bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<end])) }
      bytes.append(contentsOf: row.id)
      if definition.holdsValues {
        value.removeAll(keepingCapacity: true)
        writer.withUnsafeBytes { value.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[end...])) }
      }
      sectionLength = lengths.section
      idLength = row.id.count
      isShown = true
    } catch {
      problem = error
    }
  }
}

extension PlacedKey {
  /// A key as it is stored in a view.
  init(of item: [UInt8], sectionLength: Int, idLength: Int, value: [UInt8]) {
    bytes = item
    self.sectionLength = sectionLength
    self.idLength = idLength
    self.value = value
    isOfRow = true
    isShown = true
  }

  /// The key of a row that a view does not show.
  static var hidden: PlacedKey {
    var key = PlacedKey()
    key.isOfRow = true
    return key
  }
}
