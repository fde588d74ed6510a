// The fields of documents that a request names anywhere.

internal import StrataLog
internal import StrataTables

extension ListRequest {
  /// Throws where a row's own value is named that cannot be what is asked for: the section, which the list makes itself, as
  /// a key, and anything but the id where text is searched.
  func checkOwnValues() throws(ListError) {
    let keys = [section, sectionValue].compactMap { $0 } + sorts
    if keys.contains(where: { $0.path?.subject == .section }) {
      throw .store(
        .invalid(
          what: "$section is what the list makes of each row, so no section or order can be made of it",
          next: "name the field of the document that the sections are made of"))
    }
    if let aggregate = aggregates.first(where: { $0.key?.path?.subject == .section }) {
      throw .store(
        .invalid(
          what: "\(aggregate) is of $section, which is the same for all rows of a section",
          next: "name a field of the document, or count"))
    }
    let searched = filters.flatMap(\.searchedFields)
    if let path = searched.first(where: { $0.subject != .field && $0.subject != .id }) {
      throw .store(
        .invalid(
          what: "\(path) is no text that can be searched",
          next: "search fields of the document and $id, and compare \(path) in a filter"))
    }
  }

  /// The fields that sections, sorts, the order of sections, filters and searches name, without duplicates, ascending
  /// by name. Row attributes such as `$id` are not fields of a document, and key paths and closures name none.
  var namedFields: [FieldPath] {
    let keys = [section, sectionValue].compactMap { $0 } + sorts
    let paths = filters.reduce(into: Set(keys.compactMap { $0.path })) { $0.formUnion($1.paths) }
    return paths.filter { $0.subject == .field }.sorted {
      $0.names.lexicographicallyPrecedes($1.names) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// The document fields that all rows are sorted by, first to last, as values are compared by a filter; empty if there
  /// are sections or filters, or another order.
  var keyFields: [FieldPath] {
    guard section == nil, filters.isEmpty, sectionValue == nil else { return [] }
    let fields = sorts.compactMap { sort in
      sort.options.isEmpty && !sort.isManual ? sort.path.flatMap { $0.subject == .field ? $0 : nil } : nil
    }
    return fields.count == sorts.count ? fields : []
  }
}
