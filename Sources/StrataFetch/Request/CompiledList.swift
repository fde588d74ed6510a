// A request made ready for a table: from rows to keys.

internal import StrataEvents
package import StrataTables

/// What a request comes to over a table.
package struct CompiledList: Sendable {
  package let definition: ViewDefinition
  package let window: ListWindows
  package let isSectioned: Bool
}

extension ListRequest {
  /// The request over a table's rows.
  ///
  /// Rows of types other than `DocumentRow` are decoded even where no key path needs it: a row that does not
  /// decode is left out of the list, and not found out when it is shown.
  package func compiled(
    decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) throws(ListError) -> CompiledList {
    var compiledFilters: [CompiledFilter] = []
    var closures: [@Sendable (Item) -> Bool] = []
    for filter in filters {
      switch filter.condition {
      case .filter(let filter): compiledFilters.append(filter.compiled())
      case .closure(let passes): closures.append(passes)
      case .malformed(let error): throw .filter(error)
      }
    }
    let needsItem =
      Item.self != DocumentRow.self || !closures.isEmpty || section?.needsItem ?? false
      || sorts.contains { $0.needsItem }
    let place: ViewDefinition.Place
    if needsItem {
      let placer = ItemPlacer(
        section: section, sorts: sorts, filters: compiledFilters, closures: closures, decode: decode)
      place = { (row, writer) throws(RowProblem) in try placer.place(row, &writer) }
    } else {
      let placer = FieldPlacer(
        section: section?.field, sorts: sorts.compactMap(\.field), filters: compiledFilters)
      place = { (row, writer) throws(RowProblem) in try placer.place(row, &writer) }
    }
    var shape = self
    shape.window = .all
    return CompiledList(
      definition: ViewDefinition(identity: ViewIdentity(shape), sectionOrder: encodedOrder, place: place),
      window: window, isSectioned: section != nil)
  }

  /// The order of sections by the bytes of their keys.
  var encodedOrder: SectionOrder {
    switch sectionOrder {
    case .key: .key
    case .keyDescending: .keyDescending
    case .first: .first
    case .count: .count
    case .list(let sections): .list(sections.map(encodeSection))
    }
  }
}

/// Whether a row passes all filters. Its section stands at the beginning of the writer.
private func passes(
  _ filters: [CompiledFilter], _ row: RowView, _ writer: borrowing SortKeyWriter, isSectioned: Bool
) -> Bool {
  for filter in filters {
    let passes = writer.withUnsafeBytes { bytes in
      filter.matches(row) {
        guard isSectioned else { return .null }
        var reader = SortKeyReader(bytes)
        return (try? reader.readDocumentValue()) ?? .null
      }
    }
    guard passes else { return false }
  }
  return true
}

/// Places rows by their fields alone, without decoding anything. Not generic, so that nothing is looked up.
private final class FieldPlacer: Sendable {
  private let section: FieldKey?
  private let sorts: [FieldKey]
  private let filters: [CompiledFilter]

  init(section: FieldKey?, sorts: [FieldKey], filters: [CompiledFilter]) {
    self.section = section
    self.sorts = sorts
    self.filters = filters
  }

  func place(_ row: RowView, _ writer: inout SortKeyWriter) throws(RowProblem) -> Int? {
    // Bytes that are no text have the text of others, and would be a second item with one id.
    guard UTF8Validation.isValid(row.id) else { throw RowProblem(what: "its id is no UTF-8") }
    // A row that no filter takes is left out, and is no problem, whatever its section is.
    var problem: RowProblem?
    do throws(RowProblem) { try section?.append(row, to: &writer) } catch {
      problem = error
      writer.removeAll()
    }
    let sectionLength = writer.count
    guard passes(filters, row, writer, isSectioned: section != nil) else { return nil }
    if let problem { throw problem }
    for index in sorts.indices { try sorts[index].append(row, to: &writer) }
    if sorts.isEmpty { writer.append(row.created) }
    return sectionLength
  }
}

/// Places rows that are decoded first.
private struct ItemPlacer<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  let section: KeyPart<Item>?
  let sorts: [KeyPart<Item>]
  let filters: [CompiledFilter]
  let closures: [@Sendable (Item) -> Bool]
  let decode: @Sendable (RowView) throws(RowProblem) -> Item

  func place(_ row: RowView, _ writer: inout SortKeyWriter) throws(RowProblem) -> Int? {
    let item = try decode(row)
    try check(item.id, of: row)
    // A row that no filter takes is left out, and is no problem, whatever its section is.
    var problem: RowProblem?
    do throws(RowProblem) { try section?.append(row, item, &writer) } catch {
      problem = error
      writer.removeAll()
    }
    let sectionLength = writer.count
    guard passes(filters, row, writer, isSectioned: section != nil) else { return nil }
    for passes in closures where !passes(item) { return nil }
    if let problem { throw problem }
    for sort in sorts { try sort.append(row, item, &writer) }
    if sorts.isEmpty { writer.append(row.created) }
    return sectionLength
  }

  /// An item's id is the row's, in the one form in which its type writes it. `07` would be a second 7, and an id
  /// that is another row's would be shown in its place.
  private func check(_ id: Item.ID, of row: RowView) throws(RowProblem) {
    var text = id.documentID
    let isSame = text.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: row.id) }
    guard isSame else {
      throw RowProblem(what: "its id is \(row.idText), and the one in it is written \(text)")
    }
    if Item.ID.self != String.self, Item.ID(documentID: text) == nil {
      throw RowProblem(what: "its id is none of \(Item.self): \(text)")
    }
  }
}
