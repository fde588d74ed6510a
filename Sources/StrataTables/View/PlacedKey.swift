// Where a view puts a row.

/// A row's key in a view: section ‖ sort keys ‖ id.
package struct PlacedKey: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// How many of the bytes are the section's.
  package private(set) var sectionLength = 0
  /// How many of the bytes, at the end, are the id's.
  package private(set) var idLength = 0
  /// What the section's place depends on; only for a view that holds values.
  package private(set) var value: [UInt8] = []
  /// False where there was no row to place.
  package private(set) var isOfRow = false
  /// False for a row that the view does not show.
  package private(set) var isShown = false
  /// Why it is not shown where it should be.
  package private(set) var problem: RowProblem?

  package init() {}

  mutating func clear() {
    isOfRow = false
    isShown = false
    problem = nil
  }

  /// Finds the key of a row; nothing is shown where there is none.
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
            "its section and sort keys take \(writer.count) bytes, and \(ViewDefinition.keyLengthMax) is the most"
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
  /// A key as a view has it.
  init(of item: [UInt8], sectionLength: Int, idLength: Int, value: [UInt8]) {
    bytes = item
    self.sectionLength = sectionLength
    self.idLength = idLength
    self.value = value
    isOfRow = true
    isShown = true
  }

  /// Of a row that a view does not show.
  static var hidden: PlacedKey {
    var key = PlacedKey()
    key.isOfRow = true
    return key
  }
}
