// A request made ready for a table: from rows to keys.

internal import StrataEvents
package import StrataTables

/// What a request comes to over a table.
package struct CompiledList: Sendable {
  package let definition: ViewDefinition
  package let window: ListWindow
  package let isSectioned: Bool
}

extension ListRequest {
  /// The request over a table's rows.
  ///
  /// Rows of types other than `Document` are decoded even where no key path needs it: a row that does not
  /// decode is left out of the list, and not found out when it is shown.
  package func compiled(
    decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) throws(ListError) -> CompiledList {
    let (section, sorts) = (section, sorts)
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
      Item.self != Document.self || !closures.isEmpty || section?.needsItem ?? false
      || sorts.contains { $0.needsItem }
    let (allFilters, allClosures) = (compiledFilters, closures)
    let checksID = Item.ID.self != String.self
    let place: ViewDefinition.Place = { (row, writer) throws(RowProblem) -> Int? in
      if checksID, Item.ID(documentID: row.idText) == nil {
        throw RowProblem(what: "its id is none of \(Item.self): \(row.idText)")
      }
      let item = needsItem ? try decode(row) : nil
      // A row that no filter takes is no problem, whatever its section is.
      var problem: RowProblem?
      do throws(RowProblem) { try section?.append(row, item, &writer) } catch {
        problem = error
        writer.removeAll()
      }
      let sectionLength = writer.count
      for filter in allFilters {
        let passes = writer.withUnsafeBytes { bytes in
          filter.matches(row) {
            guard section != nil else { return .null }
            var reader = SortKeyReader(UnsafeRawBufferPointer(rebasing: bytes[..<sectionLength]))
            return (try? reader.readDocumentValue()) ?? .null
          }
        }
        guard passes else { return nil }
      }
      if let item { for passes in allClosures where !passes(item) { return nil } }
      if let problem { throw problem }
      for sort in sorts { try sort.append(row, item, &writer) }
      if sorts.isEmpty { writer.append(row.created) }
      return sectionLength
    }
    let order: SectionOrder
    switch sectionOrder {
    case .key: order = .key
    case .keyDescending: order = .keyDescending
    case .first: order = .first
    case .count: order = .count
    case .list(let sections): order = .list(sections.map(encodeSection))
    }
    var shape = self
    shape.window = .all
    return CompiledList(
      definition: ViewDefinition(identity: ViewIdentity(shape), sectionOrder: order, place: place),
      window: window, isSectioned: section != nil)
  }
}
