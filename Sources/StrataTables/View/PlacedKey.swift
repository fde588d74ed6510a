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
  /// The report of a row that is shown: that its key is too long, and was shortened.
  package private(set) var remark: RowProblem?

  /// What a list reports of the row.
  package var report: RowProblem? { problem ?? remark }

  package init() {}

  mutating func clear() {
    isOfRow = false
    isShown = false
    problem = nil
    remark = nil
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
      guard lengths.section <= ViewDefinition.sectionLengthMax,
        row.id.count <= RowView.idLengthMax
      else {
        throw RowProblem(
          what: "its section takes \(lengths.section) bytes and its id \(row.id.count); "
            + "each has at most \(ViewDefinition.sectionLengthMax)")
      }
      let end = writer.count - lengths.value
      let sortLengthMax = ViewDefinition.sortLengthMax(idLength: row.id.count)
      bytes.removeAll(keepingCapacity: true)
      value.removeAll(keepingCapacity: true)
      var isCut = false
      try writer.withUnsafeBytes { (key) throws(RowProblem) in
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<lengths.section]))
        isCut = try Self.append(key[lengths.section..<end], to: &bytes, sortLengthMax)
        if definition.holdsValues, try Self.append(key[end...], to: &value, sortLengthMax) { isCut = true }
      }
      bytes.append(contentsOf: row.id)
      if isCut || lengths.isShortened {
        remark = RowProblem.shortened(section: lengths.isShortened, sort: isCut ? sortLengthMax : nil)
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
  /// A component of a key, cut as it is in the key of a row with an id of that length.
  package static func cut(_ component: [UInt8], idLength: Int) -> [UInt8] {
    let lengthMax = ViewDefinition.sortLengthMax(idLength: idLength)
    guard component.count > lengthMax else { return component }
    return component.withUnsafeBytes { bytes in
      guard let cut = SortKeyCut.of(bytes, to: lengthMax) else { return Array(bytes.prefix(lengthMax)) }
      return bytes[..<cut.length] + cut.mark
    }
  }

  /// Appends components, and cuts them if they are too long. Returns whether they were.
  private static func append(
    _ components: Slice<UnsafeRawBufferPointer>, to bytes: inout [UInt8], _ lengthMax: Int
  ) throws(RowProblem) -> Bool {
    let components = UnsafeRawBufferPointer(rebasing: components)
    guard components.count > lengthMax else {
      bytes.append(contentsOf: components)
      return false
    }
    guard let cut = SortKeyCut.of(components, to: lengthMax) else {
      throw RowProblem(
        what: "its sort keys take \(components.count) bytes, and are no components that could be cut")
    }
    bytes.append(contentsOf: components[..<cut.length])
    bytes.append(contentsOf: cut.mark)
    return true
  }

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
