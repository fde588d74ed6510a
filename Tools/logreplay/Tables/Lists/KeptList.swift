// A kept list as the tool knows it: the options that define it, under a name.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A kept list that cannot be shown, since its filter is not taken.
struct RefusedList: Equatable {
  var table: String
  var name: String
  var error: FilterError

  var json: [UInt8] {
    var line = JSONLine()
    line.field("table", table)
    line.field("name", name)
    line.field("error", error.message)
    return line.finish()
  }

  var text: String {
    "'\(PeopleText.printable(name))' of \(PeopleText.printable(table)) cannot be shown: "
      + "\(PeopleText.printable(error.message)); keep it with another filter"
  }
}

/// A list that is kept: a row of the table `$view`, or a view that an application saved.
struct KeptList: Equatable {
  /// The table whose rows are the kept lists of the tool.
  static let category = "$view"

  var name: String
  var table: String
  /// The version that an application gave it.
  var version: Int?
  var sectionBy: String?
  var sectionOrder: String?
  var sort: [String] = []
  /// The filters as canonical texts, in which times are absolute; a row passes all of them.
  var filters: [String] = []

  /// The stream of the list's definition.
  static func stream(of name: String) -> StreamName { StreamName(category: category, id: name) }

  /// The query of the list with what the options add: limits and fields.
  func query(_ options: ListOptions, times: TimeText) throws(CommandFailure) -> ListQuery {
    var options = options
    options.table = table
    options.sectionBy = sectionBy
    options.sectionOrder = sectionOrder
    options.sort = sort
    return try ListQuery(options, times: times, kept: self)
  }
}

// MARK: As a document

extension KeptList {
  private enum Field {
    static let table = "table"
    static let sectionBy = "sectionBy"
    static let sectionOrder = "sectionOrder"
    static let sort = "sort"
    static let filter = "where"
    static let all: Set<String> = [table, sectionBy, sectionOrder, sort, filter]
  }

  /// The options of `keep`, checked.
  init(_ name: String, _ options: ListOptions, table: String, times: TimeText) throws(CommandFailure) {
    self.name = name
    self.table = table
    sectionBy = options.sectionBy
    sectionOrder = options.sectionOrder
    sort = options.sort
    filters =
      try options.filter.map { text throws(CommandFailure) in
        [try ListQuery.filter(text, times).description]
      } ?? []
  }

  var document: DocumentValue {
    var object: DocumentObject = [Field.table: .string(table)]
    if let sectionBy { object[Field.sectionBy] = .string(sectionBy) }
    if let sectionOrder { object[Field.sectionOrder] = .string(sectionOrder) }
    if !sort.isEmpty { object[Field.sort] = .array(sort.map { .string($0) }) }
    if let filter = filters.first { object[Field.filter] = .string(filter) }
    return .object(object)
  }

  /// Reads a definition; nil for a document that is none, such as one that a later version wrote.
  init?(_ name: String, _ document: DocumentValue) {
    func text(_ field: String) -> String? {
      if case .string(let text)? = document[field] { text } else { nil }
    }
    guard case .object(let object) = document, let table = text(Field.table),
      object.allSatisfy({ Field.all.contains($0.key) })
    else { return nil }
    self.name = name
    self.table = table
    sectionBy = text(Field.sectionBy)
    sectionOrder = text(Field.sectionOrder)
    filters = text(Field.filter).map { [$0] } ?? []
    if case .array(let sorts)? = document[Field.sort] {
      for case .string(let sort) in sorts { self.sort.append(sort) }
    }
    guard self.document == document else { return nil }
  }
}

// MARK: In a store

extension KeptList {
  /// The kept list of a name: the tool's, or one that an application saved.
  ///
  /// - Parameter table: the table that the command line names.
  static func find(
    _ name: String, in opened: OpenedStore, table: String?, times: TimeText
  ) throws -> KeptList {
    let kept = try definition(of: name, in: opened) ?? saved(name, in: opened, table, times)
    guard let table, !table.utf8.elementsEqual(kept.table.utf8) else { return kept }
    throw CommandFailure(
      ExitStatus.usage, "the kept list '\(name)' is of the table '\(kept.table)'", at: "--table \(table)",
      next: "leave --table out")
  }

  /// What the table `$view` has under a name.
  enum Found {
    case none
    /// A document that is no definition to this version.
    case unreadable
    case definition(KeptList)

    /// Nil if there is none that can be read.
    var list: KeptList? { if case .definition(let list) = self { list } else { nil } }
  }

  /// The definition that the table `$view` has under a name at the head; nil if it has none.
  static func definition(of name: String, in opened: OpenedStore) throws -> KeptList? {
    let found = try found(name, in: opened)
    if case .unreadable = found {
      throw CommandFailure(
        ExitStatus.corrupt, "the kept list '\(name)' has a definition that this version cannot read",
        at: stream(of: name).text, next: "keep it again, with `logreplay keep`")
    }
    return found.list
  }

  /// What the table `$view` has under a name at the head. Throws if the store cannot be read.
  static func found(_ name: String, in opened: OpenedStore) throws(CommandFailure) -> Found {
    guard let bytes = try row(of: name, in: opened) else { return .none }
    guard let document = try? DocumentValue(cbor: bytes), let kept = KeptList(name, document) else {
      return .unreadable
    }
    return .definition(kept)
  }

  /// The row of a kept list at the head: from the state on disk if that is of the head, and otherwise folded from its
  /// stream, for which the indexes of all segments are searched.
  private static func row(of name: String, in opened: OpenedStore) throws(CommandFailure) -> [UInt8]? {
    let head = opened.store.head.sequence
    var state = Fold.resuming(opened.log, .documents(only: nil)).state
    if state.sequence != head {
      do throws(StoreError) {
        state = try opened.store.documentStateBlocking(stream(of: name), through: head, builds: true)
      } catch { throw opened.failure(error) }
    }
    var id = name
    return id.withUTF8 { id in
      state[category].withRow(UnsafeRawBufferPointer(id)) { row in row.map { Array($0.document) } }
    }
  }

  /// The list that an application saved under a name, if fields alone define it.
  private static func saved(
    _ name: String, in opened: OpenedStore, _ table: String?, _ times: TimeText
  ) throws -> KeptList {
    let views = Fold.resuming(opened.log, .documents(only: nil)).state.savedViews
    let named = views.filter { view in
      view.kept.name.utf8.elementsEqual(name.utf8)
        && table.map { $0.utf8.elementsEqual(view.table.utf8) } ?? true
    }
    guard let view = named.first else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no kept list '\(name)'", at: opened.path,
        next: advice(views.map(\.kept.name)))
    }
    guard named.count == 1 else {
      throw CommandFailure(
        ExitStatus.usage, "several tables have a kept list '\(name)'", at: opened.path,
        next: "choose one with --table: " + named.map(\.table).sorted().joined(separator: ", "))
    }
    guard let kept = KeptList(view.table, view.kept),
      let query = try? kept.query(ListOptions.parse([]), times: times),
      query.list.definition.kept == view.kept
    else {
      throw CommandFailure(
        ExitStatus.usage, "the application's own code is part of the kept list '\(name)'", at: opened.path,
        next: "only the application can show it; lists of field paths can be shown here")
    }
    return kept
  }

  /// All kept lists: the tool's, and those that an application saved, if fields alone define them.
  static func all(in state: TableSet) -> [KeptList] {
    var lists: [KeptList] = []
    state[category].forEachRow { row in
      guard let document = try? DocumentValue(cbor: row.document),
        let list = KeptList(String(decoding: row.id, as: UTF8.self), document)
      else { return }
      lists.append(list)
    }
    return lists + state.savedViews.compactMap { KeptList($0.table, $0.kept) }
  }

  /// The kept lists with a filter that is not taken, such as one with a pattern that an earlier version took, and why.
  static func refused(in state: TableSet, _ times: TimeText) -> [RefusedList] {
    var refused: [RefusedList] = []
    for list in all(in: state) {
      for filter in list.filters {
        do throws(FilterError) { _ = try RowFilter(filter) { times.instant($0) } } catch {
          let found = RefusedList(table: list.table, name: list.name, error: error)
          if !refused.contains(found) { refused.append(found) }
        }
      }
    }
    return refused
  }

  /// The definitions of all kept lists: the tool's, and those that an application saved, if fields alone define them.
  /// Those that are refused have none.
  static func definitions(
    in state: TableSet, _ times: TimeText
  ) -> [(table: String, definition: ViewDefinition)] {
    let lists = all(in: state)
    var definitions: [(table: String, definition: ViewDefinition)] = []
    for list in lists {
      guard let definition = try? list.query(ListOptions.parse([]), times: times).list.definition else {
        continue
      }
      // The tool's own lists are saved, too.
      let isKnown = definitions.contains {
        $0.definition.kept == definition.kept && $0.table.utf8.elementsEqual(list.table.utf8)
      }
      if !isKnown { definitions.append((list.table, definition)) }
    }
    return definitions
  }

  private static func advice(_ names: [String]) -> String {
    names.isEmpty
      ? "keep a list with `logreplay keep`"
      : "the application has saved " + Set(names).sorted().joined(separator: ", ")
  }

  /// What an application's view says of itself; nil if it says more than fields and filters.
  private init?(_ table: String, _ view: KeptView) {
    guard let parts = KeptText.parts(of: view.identity) else { return nil }
    name = view.name
    self.table = table
    for part in parts {
      let words = part.name.split(separator: " ")
      let options = words.count > 1 ? UInt8(words[1]).map(SortKeyOptions.init(rawValue:)) : nil
      switch words.first {
      case "item", "nils": break
      case "version": version = Int(part.content)
      case "section": sectionBy = Self.field(part.content)
      case "order": sectionOrder = part.content == "key descending" ? "key:desc" : part.content
      case "sort":
        guard let field = Self.field(part.content), let options else { return nil }
        sort.append(field + options.words)
      case "filter": filters.append(part.content)
      default: return nil
      }
    }
    if sectionBy == nil { sectionOrder = nil }
  }

  private static func field(_ text: String) -> String? {
    text.hasPrefix("field ") ? String(text.dropFirst("field ".count)) : nil
  }
}

extension SortKeyOptions {
  /// The options as `--sort` takes them, after the field.
  fileprivate var words: String {
    let named: [(SortKeyOptions, String)] = [
      (.descending, ":desc"), (.time, ":time"), (.numeric, ":numeric"), (.caseInsensitive, ":nocase"),
      (.nilsLast, ":nullslast"),
    ]
    return named.filter { contains($0.0) }.map(\.1).joined()
  }
}
