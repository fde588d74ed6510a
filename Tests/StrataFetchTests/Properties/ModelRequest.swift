// A request, in a form that the model of a list understands.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

struct ModelRequest {
  struct Sort {
    /// The names of the fields on the path, separated by dots.
    var field: String
    var isDescending: Bool
    var areNilsLast: Bool
  }

  /// The path of the event that changed a row last, which is no field of its document.
  static let revision = "$revision"

  enum Order {
    case key, keyDescending, list([DocumentValue]), first, count
    /// By the `rank` of a section: as a key, and as a comparison.
    case ranked, compared
    case extreme(String, isMaximum: Bool, isDescending: Bool)
  }

  var section: String?
  var nils = SectionNils.first
  /// The sections that the list has even without items.
  var declared: [DocumentValue] = []
  var order = Order.key
  var sorts: [Sort] = []
  /// If not nil, only rows with this `flag` are shown.
  var flag: Bool?
  /// Whether rows are filtered by a text instead of a closure.
  var isFilterText = false
  var window = ListWindow.all
  var sectionWindow = ListWindow.all
  /// Whether rows are decoded as `TypedRow`, and read by key paths.
  var isTyped = false
}

// MARK: In the model

extension ModelRequest {
  /// An order of sections that does not follow from their keys, with ties.
  static func rank(_ section: DocumentValue) -> Int { section.json().utf8.count % 3 }

  /// Whether a section is before another if nothing else decides.
  func isBefore(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    if a.isNull != b.isNull { return a.isNull != (nils == .last) }
    return ModelList.order(a, b) < 0
  }

  /// Whether a row is in the list, shown or hidden by a window.
  func takes(_ row: ModelTable.Row) -> Bool {
    if isTyped, !TypedRow.canDecode(row.document) { return false }
    if nils == .required, let section, row.document.value(at: section).isNull { return false }
    return flag.map { row.document["flag"] == .bool($0) } ?? true
  }
}

extension DocumentObject {
  /// The value at a path; null if there is none.
  func value(at path: String) -> DocumentValue {
    if let value = self[path] { return value }
    var object = self
    let names = path.split(separator: ".").map(String.init)
    for name in names.dropLast() {
      guard case .object(let inner)? = object[name] else { return .null }
      object = inner
    }
    return names.last.flatMap { object[$0] } ?? .null
  }

  /// Sets or removes the value at a path. Values on the path that are not objects become objects.
  mutating func set(_ value: DocumentValue?, at path: some Collection<Substring>) {
    guard let name = path.first.map(String.init) else { return }
    guard path.count > 1 else {
      self[name] = value
      return
    }
    var inner = DocumentObject()
    if case .object(let object)? = self[name] { inner = object }
    inner.set(value, at: path.dropFirst())
    self[name] = .object(inner)
  }
}

// MARK: In the library

extension FieldPath {
  fileprivate init(dotted path: String) {
    if path == ModelRequest.revision {
      self = .revision
    } else {
      self.init(names: path.split(separator: ".").map(String.init))
    }
  }
}

extension ModelRequest {
  /// The request compiled for a table.
  func compiled() throws(ListError) -> CompiledList {
    guard isTyped else {
      return try request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    }
    return try typedRequest.compiled { (row) throws(RowProblem) in
      do { return try CBORDecoder().decode(TypedRow.self, from: row.document) } catch {
        throw RowProblem(what: "\(error)")
      }
    }
  }

  /// The request in the library, over untyped rows.
  var request: ListRequest<DocumentRow, DocumentValue> {
    var request = configured(
      ListRequest(DocumentRow.self).sectioned(byField: FieldPath(dotted: section ?? "-"), nils: nils),
      section: { $0 }, value: { $0 })
    if case .extreme(let field, let isMaximum, let isDescending) = order {
      let (path, direction) = (FieldPath(dotted: field), isDescending ? SortDirection.reverse : .forward)
      request =
        isMaximum
        ? request.sectionsOrdered(byMaximumOfField: path, direction)
        : request.sectionsOrdered(byMinimumOfField: path, direction)
    }
    if section == nil { request.section = nil }
    for sort in sorts {
      request = request.sorted(byField: FieldPath(dotted: sort.field), sort.direction, sort.options)
    }
    if let flag {
      request =
        isFilterText
        ? request.filtered(by: "flag == \(flag)")
        : request.filtered(id: "flag \(flag)") { $0.fields["flag"] == .bool(flag) }
    }
    return request
  }

  /// The request in the library, over typed rows: `s`, `k` and `m.l` are read by key paths.
  var typedRequest: ListRequest<TypedRow, String?> {
    var request = configured(
      ListRequest(TypedRow.self).sectioned(by: \.s, nils: nils),
      section: { if case .string(let text) = $0 { text } else { nil } },
      value: { $0.map { .string($0) } ?? .null })
    if case .extreme(let field, let isMaximum, let isDescending) = order {
      let direction: SortDirection = isDescending ? .reverse : .forward
      request =
        switch (field == "k", isMaximum) {
        case (true, true): request.sectionsOrdered(byMaximumOf: \.k, direction)
        case (true, false): request.sectionsOrdered(byMinimumOf: \.k, direction)
        case (false, true): request.sectionsOrdered(byMaximumOf: \.m?.l, direction)
        case (false, false): request.sectionsOrdered(byMinimumOf: \.m?.l, direction)
        }
    }
    if section == nil { request.section = nil }
    for sort in sorts {
      request =
        sort.field == "k"
        ? request.sorted(by: \.k, sort.direction, sort.options)
        : request.sorted(by: \.m?.l, sort.direction, sort.options)
    }
    if let flag {
      request =
        isFilterText
        ? request.filtered(by: "flag == \(flag)")
        : request.filtered(id: "flag \(flag)") { $0.flag == flag }
    }
    return request
  }

  /// Adds the parts of the request that do not depend on the type of its rows.
  private func configured<Item, Section>(
    _ request: ListRequest<Item, Section>, section: (DocumentValue) -> Section,
    value: @escaping @Sendable (Section) -> DocumentValue
  ) -> ListRequest<Item, Section> {
    var request = request.keepingEmpty(declared.map(section)).windowed(to: window)
      .windowed(perSection: sectionWindow)
    switch order {
    case .key, .extreme: break
    case .keyDescending: request = request.sectionsOrdered(by: .keyDescending)
    case .first: request = request.sectionsOrdered(by: .first)
    case .count: request = request.sectionsOrdered(by: .count)
    case .list(let values): request = request.sectionsOrdered(by: .list(values.map(section)))
    case .ranked: request = request.sectionsOrdered(id: "rank", .reverse) { Self.rank(value($0)) }
    case .compared:
      request = request.sectionsOrdered(id: "rank") { Self.rank(value($0)) > Self.rank(value($1)) }
    }
    return request
  }
}

extension ModelRequest.Sort {
  var direction: SortDirection { isDescending ? .reverse : .forward }
  var options: SortKeyOptions { areNilsLast ? .nilsLast : [] }
}
