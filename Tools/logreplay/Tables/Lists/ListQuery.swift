// A list defined by the options, checked and ready to be read at any point.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The query that `--table` and the other list options define.
struct ListQuery: Sendable {
  /// Nil for the store's only table.
  var table: String?
  /// The projection that saved the table; nil for the only one that has such a table, or documents.
  private(set) var projection: String?
  var list: CompiledList
  var fields: ShownFields
  /// The fields of each comparison in the filter that compares two fields.
  private(set) var comparisons: [(left: FieldPath, right: FieldPath)] = []
  /// The field whose values are the sections; it is not repeated in each row.
  var sectionPath: FieldPath?
  /// The filters as canonical texts, in which times are absolute; a row passes all of them.
  private(set) var filters: [String] = []
  /// False for `--limit-per-section 0`: only sections and their counts are shown.
  var showsItems: Bool
  /// Whether the sections' values are times, which lists store as nanoseconds and the output shows as text.
  var isSectionedByTime: Bool { sectionPath == .time }

  /// Checks the options before a store is opened. The result lacks what a kept list says.
  @discardableResult
  static func check(_ options: ListOptions, times: TimeText) throws(CommandFailure) -> ListQuery {
    if options.view != nil, let option = options.firstDefining {
      throw CommandFailure(
        ExitStatus.usage, "--view says what \(option) says", at: option,
        next: "leave one of them out, or keep another list with `logreplay keep`")
    }
    return try ListQuery(options, times: times)
  }

  /// The query of the options, whose kept list is looked up in the store.
  init(_ options: ListOptions, in opened: OpenedStore, times: TimeText) throws {
    guard let name = options.view else {
      try self.init(options, times: times)
      return
    }
    self = try KeptList.find(name, in: opened, table: options.table, times: times).query(
      options, times: times)
  }

  /// - Parameters:
  ///   - times: parses the times in the filter, as it parses the times of points.
  ///   - kept: the kept list that the options name; its filters stand for that of the options.
  init(_ options: ListOptions, times: TimeText, kept: KeptList? = nil) throws(CommandFailure) {
    table = options.table
    projection = options.savedBy
    fields = try ShownFields(options.fields)
    let sorts = try options.sort.map { text throws(CommandFailure) in try ListSort(text) }
    let order = try Self.order(options.sectionOrder)
    try Self.check(options.limit, "--limit", least: 0)
    try Self.check(options.limitPerSection, "--limit-per-section", least: 0)
    showsItems = options.limitPerSection != 0
    var request = ListRequest(DocumentRow.self)
    if let kept { request = request.kept(as: kept.name, version: kept.version) }
    for sort in sorts { request = request.sorted(byField: sort.path, sort.direction, sort.options) }
    for text in kept?.filters ?? options.filter.map({ [$0] }) ?? [] {
      let filter = try Self.filter(text, times)
      if options.sectionBy == nil, filter.fields.contains(.section) {
        throw CommandFailure(
          ExitStatus.usage, "there are no sections that $section could be", at: "--where",
          next: "choose the field of the sections with --section-by, or compare that field")
      }
      comparisons += filter.expression.comparisonsOfFields
      filters.append(filter.description)
      request = request.filtered(by: filter)
    }
    // A limit hides sections without shown items, so no limit is set if no items are shown.
    if showsItems {
      if let limit = options.limit { request = request.limited(to: limit) }
      if let limit = options.limitPerSection { request = request.limited(perSection: limit) }
    }
    guard let field = options.sectionBy else {
      guard options.sectionOrder == nil else {
        throw CommandFailure(
          ExitStatus.usage, "there are no sections to sort", at: "--section-order",
          next: "choose the field of the sections with --section-by")
      }
      list = try Self.compiled(request)
      return
    }
    let path = try FieldPath(field, option: "--section-by")
    guard path != .section else {
      throw CommandFailure(
        ExitStatus.usage, "$section is the result of --section-by, not a field", at: "--section-by \(field)",
        next: "give a field of the rows")
    }
    sectionPath = path
    list = try Self.compiled(request.sectioned(byField: path).sectionsOrdered(by: order))
  }

  /// Throws if items are not shown, for commands that show the changes of items.
  func checkShowsItems() throws(CommandFailure) {
    guard !showsItems else { return }
    throw CommandFailure(
      ExitStatus.usage, "the changes of a list are shown item by item", at: "--limit-per-section 0",
      next: "leave it out; diff --stat prints only numbers")
  }

  /// Throws if a projection's table is chosen, for what reads documents alone.
  func checkIsOfDocuments() throws(CommandFailure) {
    guard let projection else { return }
    throw CommandFailure(
      ExitStatus.usage, "only tables of documents can be read here", at: "--saved-by \(projection)",
      next: "leave it out; at, diff, bisect, count and follow show what projections saved")
  }

  /// The fields that the list and `--fields` name, each once.
  var namedFields: [FieldPath] {
    var fields = list.definition.fields
    for path in list.aggregates?.paths ?? [] where !fields.contains(path) { fields.append(path) }
    for field in self.fields.chosen ?? [] where field.path.subject == .field && !fields.contains(field.path) {
      fields.append(field.path)
    }
    return fields
  }

  private static func compiled<Section>(
    _ request: ListRequest<DocumentRow, Section>
  ) throws(CommandFailure) -> CompiledList {
    do throws(ListError) {
      return try request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    } catch {
      throw CommandFailure(ExitStatus.usage, "\(error)", next: "correct the options of the list")
    }
  }

  /// - Parameter note: called with each time in the filter.
  static func filter(
    _ text: String, _ times: TimeText, noting note: @escaping (String, Instant) -> Void = { _, _ in }
  ) throws(CommandFailure) -> RowFilter {
    let instant: (String) -> Instant? = { text in
      let instant = times.instant(text)
      if let instant { note(text, instant) }
      return instant
    }
    do throws(FilterError) { return try RowFilter(text, date: instant) } catch {
      throw CommandFailure(ExitStatus.usage, "the filter has an error", at: "--where", next: "\(error)")
    }
  }

  private static func order(_ text: String?) throws(CommandFailure) -> ListSectionOrder<DocumentValue> {
    switch text {
    case nil, "key": return .key
    case "key:desc": return .keyDescending
    case "first": return .first
    case "count": return .count
    case let text?:
      throw CommandFailure(
        ExitStatus.usage, "'\(text)' is not an order of sections", at: "--section-order",
        next: "choose key, key:desc, first or count")
    }
  }

  private static func check(_ number: Int?, _ option: String, least: Int) throws(CommandFailure) {
    guard let number, number < least else { return }
    throw CommandFailure(
      ExitStatus.usage, "\(option) must be at least \(least)", at: option, next: "give a count")
  }
}
