// The fields of documents that a request names, wherever it does.

internal import StrataTables

extension ListRequest {
  /// The fields that sections, sorts, the order of sections, filters and searches name, each once, ascending by
  /// their names. What is the row's own is no field of a document, and key paths and closures name none.
  var namedFields: [FieldPath] {
    let keys = [section, sectionValue].compactMap { $0 } + sorts
    let paths = filters.reduce(into: Set(keys.compactMap(\.path))) { $0.formUnion($1.paths) }
    return paths.filter { $0.subject == .field }.sorted {
      $0.names.lexicographicallyPrecedes($1.names) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }
}
