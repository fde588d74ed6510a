// The filter language: a text is refused with its place, or has one form, and is asked about hostile rows.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

enum FilterTarget {
  /// The text ends at the first zero; behind it stands a row's document.
  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let text = String(decoding: parts.first ?? [], as: UTF8.self)
    let document = parts.count > 1 ? Array(parts[1]) : Self.document
    let filter: RowFilter
    do throws(FilterError) { filter = try RowFilter(parsing: text) } catch {
      _ = error.description
      let (range, end) = (error.byteRange, text.utf8.count)
      return try law(
        range.lowerBound >= 0 && range.upperBound <= end, "the place \(range) is outside \(end) bytes")
    }
    let form = filter.description
    if form.utf8.count <= RowFilter.byteCountMax {
      guard let again = try? RowFilter(parsing: form) else {
        throw BrokenLaw("the form of \(text) is refused: \(form)")
      }
      try law(again == filter && again.description == form, "\(text) has two forms: \(form), \(again)")
      try law(again.hashValue == filter.hashValue, "\(text): equal filters hash otherwise")
    }
    let isTaken = matches(filter, document)
    if let inverse = try? RowFilter(parsing: "!(" + form + ")") {
      try law(matches(inverse, document) != isTaken, "\(form) and its opposite agree on a row")
    }
    _ = matches(filter, Self.document)
  }

  private static let document =
    (try? DocumentValue(
      json: #"""
        {"a":1,"b":{"c":"x","d":[1,"y",null,2.5]},"impact":"High","when":"2026-11-20T18:00:00+01:00","z":null,"t":true}
        """#))?.cbor() ?? []

  private static func matches(_ filter: RowFilter, _ document: [UInt8]) -> Bool {
    Array("row/1".utf8).withUnsafeBytes { id in
      document.withUnsafeBytes { document in
        let row = RowView(
          id: id, revision: 7, created: 3, time: 1_767_225_600_000_000_000, document: document)
        return filter.compiled().matches(row) { "section" }
      }
    }
  }
}
