// The fields of documents that a request names anywhere.

internal import StrataTables

extension ListRequest {
  /// The fields that sections, sorts, the order of sections, filters and searches name, without duplicates, ascending
  /// by name. Row attributes such as `$id` are not fields of a document, and key paths and closures name none.
  var namedFields: [FieldPath] {
    let keys = [section, sectionValue].compactMap { $0 } + sorts
    let paths = filters.reduce(into: Set(keys.compactMap { $0.path })) { $0.formUnion($1.paths) }
    return paths.filter { $0.subject == .field }.sorted {
      $0.names.lexicographicallyPrecedes($1.names) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }
}
