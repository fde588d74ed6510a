// A request compiled for a table: from rows to keys.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import StrataDocuments
internal import StrataEvents
package import StrataTables

/// The result of compiling a request for a table.
package struct CompiledList: Sendable {
  package let definition: ViewDefinition
  package let window: ListWindows
  package let isSectioned: Bool
  /// Nil if the request has none.
  package var aggregates: AggregatePlan?

  /// The same with the aggregates of another compiled list of the same rows, and what is known of them, if they are equal.
  package func sharingAggregates(with other: CompiledList?) -> CompiledList {
    guard let plan = other?.aggregates, plan.identity == aggregates?.identity else { return self }
    var list = self
    list.aggregates = plan
    return list
  }
}

extension ListRequest {
  /// Compiles the request for a table's rows.
  ///
  /// Rows of types other than `DocumentRow` that the filters take are decoded even if no key path needs it: a row that
  /// does not decode is left out of the list at once, rather than failing when it is shown.
  package func compiled(
    decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) throws(ListError) -> CompiledList {
    var compiledFilters: [CompiledFilter] = []
    var conditions: [@Sendable (RowView) -> Bool] = []
    var closures: [@Sendable (Item) throws(RowProblem) -> Bool] = []
    for filter in filters {
      switch filter.condition {
      case .filter(let filter): compiledFilters.append(filter.compiled())
      case .row(let passes): conditions.append(passes)
      case .closure(let passes): closures.append(passes)
      case .malformed(let error): throw .filter(error)
      }
    }
    try checkOwnValues()
    let needsItem =
      Item.self != DocumentRow.self || !closures.isEmpty || section?.needsItem ?? false
      || sorts.contains { $0.needsItem } || sectionValue?.needsItem ?? false
    let place: ViewDefinition.Place
    let calls: ProgramCalls
    if needsItem {
      // A filter on `$section` depends on the program's code.
      let readsSection = section?.needsItem ?? false && filters.contains { $0.readsSection }
      calls = closures.isEmpty && !readsSection ? .keys : .filters
      let placer = ItemPlacer(
        section: section, sorts: sorts, value: sectionValue, filters: compiledFilters, conditions: conditions,
        closures: closures, readsSection: filters.contains { $0.readsSection }, decode: decode)
      place = { [decodeSection] (row, writer) throws(RowProblem) in
        let lengths = try placer.place(row, &writer)
        guard let lengths, lengths.isShortened else { return lengths }
        let isSection = writer.withUnsafeBytes {
          decodeSection(UnsafeRawBufferPointer(rebasing: $0[..<lengths.section])) != nil
        }
        guard isSection else {
          throw RowProblem(
            what:
              "its section is longer than \(ViewDefinition.sectionLengthMax) bytes, and what is kept of it "
              + "is no \(Section.self)")
        }
        return lengths
      }
    } else {
      calls = .none
      let placer = FieldPlacer(
        section: section?.field, sorts: sorts.compactMap { $0.field }, value: sectionValue?.field,
        filters: compiledFilters, conditions: conditions)
      place = { (row, writer) throws(RowProblem) in try placer.place(row, &writer) }
    }
    return CompiledList(
      definition: ViewDefinition(
        identity: ViewIdentity(shape), sectionOrder: encodedOrder, areNilsLast: areNilsLast,
        declared: try checkedDeclaredKeys(), fields: namedFields, keyFields: needsItem ? [] : keyFields,
        calls: calls, kept: try keptView(calls), candidates: candidates, place: place),
      window: window, isSectioned: section != nil, aggregates: aggregatePlan(decode: decode))
  }
}

extension ListRequest {
  /// Finds by an index which rows the filters may take; nil if no filter can tell.
  ///
  /// A filter of the section needs the section, which a row may not have: such a row is reported whatever another filter
  /// says of it.
  private var candidates: ViewDefinition.Candidates? {
    let known = filters.compactMap { filter in
      if case .filter(let filter) = filter.condition { filter } else { nil }
    }
    guard !known.isEmpty, !filters.contains(where: \.readsSection) else { return nil }
    return { indexes, rowCount in
      let searches = known.compactMap { IndexSearch($0, in: indexes) }
      let best = searches.min { $0.candidateCount < $1.candidateCount }
      return best.flatMap { $0.isWorthwhile(of: rowCount) ? $0.ids() : nil }
    }
  }
}

/// Whether a row passes all filters. The writer begins with the row's section; a filter sees its first component, as
/// text if it is a UUID.
private func passes(
  _ filters: [CompiledFilter], _ row: RowView, _ writer: borrowing SortKeyWriter, isSectioned: Bool
) -> Bool {
  for filter in filters {
    let passes = writer.withUnsafeBytes { bytes in
      filter.matches(row) {
        guard isSectioned else { return .null }
        var reader = SortKeyReader(bytes)
        return (try? reader.readAnything()) ?? .null
      }
    }
    guard passes else { return false }
  }
  return true
}

/// Places rows by their fields alone, without decoding. Not generic, so that no generic metadata is looked up.
private final class FieldPlacer: Sendable {
  private let section: FieldKey?
  private let sorts: [FieldKey]
  private let value: FieldKey?
  private let filters: [CompiledFilter]
  private let conditions: [@Sendable (RowView) -> Bool]

  init(
    section: FieldKey?, sorts: [FieldKey], value: FieldKey?, filters: [CompiledFilter],
    conditions: [@Sendable (RowView) -> Bool]
  ) {
    self.section = section
    self.sorts = sorts
    self.value = value
    self.filters = filters
    self.conditions = conditions
  }

  func place(_ row: RowView, _ writer: inout SortKeyWriter) throws(RowProblem) -> PlacedLengths? {
    // Invalid bytes decode to the same text as others, and would be a second item with the same id.
    guard UTF8Validation.isValid(row.id) else { throw RowProblem(what: "its id is not valid UTF-8") }
    // A row that the filters reject is left out and not reported as a problem, whatever its section is.
    var problem: RowProblem?
    do throws(RowProblem) { try section?.append(row, to: &writer) } catch {
      problem = error
      writer.removeAll()
    }
    guard passes(filters, row, writer, isSectioned: section != nil) else { return nil }
    for passes in conditions where !passes(row) { return nil }
    if let problem { throw problem }
    // After the filters, which see the whole section.
    let isShortened = try writer.shortenSection()
    let sectionLength = writer.count
    for index in sorts.indices { try sorts[index].append(row, to: &writer) }
    if sorts.isEmpty { writer.append(row.created) }
    let keyLength = writer.count
    try value?.append(row, to: &writer)
    return PlacedLengths(
      section: sectionLength, value: writer.count - keyLength, isShortened: isShortened)
  }
}

/// Places rows after decoding them. Not generic: closures get a pointer to the item, so that no generic metadata is
/// looked up for each row, which took a quarter of placing it.
///
/// What filters reject is not decoded. So the row's bytes decide what is left out, even if the row's type decodes them at
/// one time and not at another: `ProgramCalls.keys` promises that.
final class ItemPlacer: Sendable {
  /// Appends a component of a row's key. The pointer is to the item; nil where the row was not decoded.
  typealias Append = @Sendable (RowView, UnsafeRawPointer?, inout SortKeyWriter) throws(RowProblem) -> Void
  typealias Condition = @Sendable (UnsafeRawPointer) throws(RowProblem) -> Bool
  /// Decodes a row, checks the item's id, and lends the item.
  typealias Decode =
    @Sendable (RowView, (UnsafeRawPointer) throws(RowProblem) -> PlacedLengths?) throws(RowProblem) ->
    PlacedLengths?

  private let section: Append?
  private let sorts: [Append]
  private let value: Append?
  private let filters: [CompiledFilter]
  private let conditions: [@Sendable (RowView) -> Bool]
  private let closures: [Condition]
  /// Whether a filter reads the section.
  private let readsSection: Bool
  /// Whether there are filters or conditions, and the row's bytes decide what they say.
  private let filtersFirst: Bool
  private let withItem: Decode

  fileprivate init<Item: Identifiable & Sendable>(
    section: KeyPart<Item>?, sorts: [KeyPart<Item>], value: KeyPart<Item>?, filters: [CompiledFilter],
    conditions: [@Sendable (RowView) -> Bool], closures: [@Sendable (Item) throws(RowProblem) -> Bool],
    readsSection: Bool, decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) where Item.ID: DocumentID {
    self.section = section?.appendAt
    self.sorts = sorts.map { $0.appendAt }
    self.value = value?.appendAt
    self.filters = filters
    self.conditions = conditions
    self.closures = closures.map { Self.condition($0) }
    self.readsSection = readsSection
    filtersFirst =
      !(filters.isEmpty && conditions.isEmpty) && !(readsSection && section?.needsItem ?? false)
    let checksID = !Self.idsReadBack.contains { $0 == Item.ID.self }
    withItem = { row, body throws(RowProblem) in
      let item = try decode(row)
      if checksID { try Self.check(item.id, of: Item.self) }
      return try withUnsafePointer(to: item) { (item) throws(RowProblem) in try body(item) }
    }
  }

  private static func condition<Item>(
    _ passes: @escaping @Sendable (Item) throws(RowProblem) -> Bool
  ) -> Condition {
    { (item: UnsafeRawPointer) throws(RowProblem) -> Bool in
      try passes(item.assumingMemoryBound(to: Item.self).pointee)
    }
  }

  func place(_ row: RowView, _ writer: inout SortKeyWriter) throws(RowProblem) -> PlacedLengths? {
    if filtersFirst {
      if readsSection {
        do throws(RowProblem) { try section?(row, nil, &writer) } catch { writer.removeAll() }
      }
      guard takes(row, writer) else { return nil }
      writer.removeAll()
    }
    return try withItem(row) { (item) throws(RowProblem) in try place(row, item, &writer) }
  }

  /// Whether the row passes the filters and the conditions. The writer begins with its section if a filter reads it.
  private func takes(_ row: RowView, _ writer: borrowing SortKeyWriter) -> Bool {
    guard passes(filters, row, writer, isSectioned: section != nil) else { return false }
    for passes in conditions where !passes(row) { return false }
    return true
  }

  private func place(
    _ row: RowView, _ item: UnsafeRawPointer, _ writer: inout SortKeyWriter
  ) throws(RowProblem) -> PlacedLengths? {
    // A row that the filters reject is left out and not reported as a problem, whatever its section is.
    var problem: RowProblem?
    do throws(RowProblem) { try section?(row, item, &writer) } catch {
      problem = error
      writer.removeAll()
    }
    if !filtersFirst { guard takes(row, writer) else { return nil } }
    for passes in closures {
      guard try passes(item) else { return nil }
    }
    if let problem { throw problem }
    // After the filters, which see the whole section.
    let isShortened = try writer.shortenSection()
    let sectionLength = writer.count
    for sort in sorts { try sort(row, item, &writer) }
    if sorts.isEmpty { writer.append(row.created) }
    let keyLength = writer.count
    try value?(row, item, &writer)
    return PlacedLengths(
      section: sectionLength, value: writer.count - keyLength, isShortened: isShortened)
  }

  /// Types of ids whose texts can always be read back.
  private static let idsReadBack: [Any.Type] = [
    String.self, UUID.self, Int.self, Int64.self, Int32.self, UInt64.self, UInt32.self,
  ]

  /// Checks that an item's id can be read back from its text. Decoding has checked that it is the row's id.
  private static func check<Item>(_ id: some DocumentID, of: Item.Type) throws(RowProblem) {
    let text = id.documentID
    guard type(of: id).init(documentID: text) != nil else {
      throw RowProblem(what: "its id is not a valid id of \(Item.self): \(text)")
    }
  }
}
