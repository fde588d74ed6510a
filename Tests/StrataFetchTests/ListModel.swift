// The obvious model of a list: everything is computed anew from plain arrays.

internal import StrataEvents
@testable internal import StrataFetch
internal import StrataLog
internal import StrataTables

/// Rows in a dictionary.
struct ModelTable {
  struct Row: Equatable {
    var document: DocumentObject
    var revision: UInt64
    var created: UInt64
    var content: UInt64 { XXH64.of(DocumentValue.object(document).cbor()) >> 1 }
  }

  /// By the UTF-8 of their ids, since Swift's strings are equal where their bytes are not.
  var rows: [[UInt8]: Row] = [:]

  mutating func put(_ id: [UInt8], _ document: DocumentObject, at sequence: UInt64) {
    guard rows[id]?.document != document else { return }
    rows[id] = Row(document: document, revision: sequence, created: rows[id]?.created ?? sequence)
  }
}

/// What a request asks for, in words that the model understands.
struct ModelRequest {
  struct Sort {
    var field: String
    var isDescending: Bool
    var areNilsLast: Bool
  }

  enum Order {
    case key, keyDescending, list([DocumentValue]), first, count
    /// By what `rank` makes of a section: as a key, and as a comparison.
    case ranked, compared
    case extreme(String, isMaximum: Bool, isDescending: Bool)
  }

  var section: String?
  var nils = SectionNils.first
  /// Sections that are there also without items.
  var declared: [DocumentValue] = []
  var order = Order.key
  var sorts: [Sort] = []
  /// Only rows whose `flag` is this.
  var flag: Bool?
  var window = ListWindow.all
  var sectionWindow = ListWindow.all
}

extension ModelList: CustomStringConvertible {
  var description: String {
    sections.map { section in
      let items = section.items.map { "\(String(decoding: $0.id, as: UTF8.self))@\($0.revision)" }
      return "\(section.value) \(section.count): \(items.joined(separator: ", "))"
    }.joined(separator: "; ")
  }
}

/// A list as it should be shown.
struct ModelList: Equatable {
  struct Item: Equatable {
    var id: [UInt8]
    /// A number for the content of the row, which fits an Int: who was changed and changed back has the one that it had.
    var revision: UInt64
  }

  struct Section: Equatable {
    var value: DocumentValue
    var count: Int
    var items: [Item]
  }

  var sections: [Section] = []
}

extension ModelList {
  init(_ request: ModelRequest, of table: ModelTable) {
    let rows = table.rows.filter { row in
      if request.nils == .required, let section = request.section,
        (row.value.document[section] ?? .null).isNull
      {
        return false
      }
      return request.flag.map { row.value.document["flag"] == .bool($0) } ?? true
    }
    func precedes(_ a: (key: [UInt8], value: ModelTable.Row), _ b: (key: [UInt8], value: ModelTable.Row)) -> Bool {
      for sort in request.sorts {
        let (x, y) = (a.value.document[sort.field] ?? .null, b.value.document[sort.field] ?? .null)
        if x.isNull != y.isNull { return x.isNull != sort.areNilsLast }
        let order = Self.order(x, y)
        if order != 0 { return sort.isDescending ? order > 0 : order < 0 }
      }
      if request.sorts.isEmpty, a.value.created != b.value.created { return a.value.created < b.value.created }
      return a.key.lexicographicallyPrecedes(b.key)
    }
    let sorted = rows.sorted(by: precedes)
    var sections: [Section] = []
    if request.section == nil { sections = [Section(value: .null, count: 0, items: [])] }
    for row in sorted {
      let value = request.section.map { row.value.document[$0] ?? .null } ?? .null
      let index =
        sections.firstIndex { Self.order($0.value, value) == 0 }
        ?? {
          sections.append(Section(value: Self.asRead(value), count: 0, items: []))
          return sections.count - 1
        }()
      sections[index].count += 1
      sections[index].items.append(Item(id: row.key, revision: row.value.content))
    }
    func isBefore(_ a: Section, _ b: Section) -> Bool { request.isBefore(a.value, b.value) }
    let declared = request.section == nil ? [] : request.declared.filter(Self.isKey).map(Self.asRead)
    func isDeclared(_ section: Section) -> Bool { declared.contains { Self.order($0, section.value) == 0 } }
    let missing = declared.map { Section(value: $0, count: 0, items: []) }.sorted(by: isBefore)
    for section in missing where !sections.contains(where: { Self.order($0.value, section.value) == 0 }) {
      sections.append(section)
    }
    switch request.order {
    case .first: break  // They are in this order already.
    case .key: sections.sort(by: isBefore)
    case .keyDescending:
      sections.sort { a, b in a.value.isNull == b.value.isNull ? isBefore(b, a) : isBefore(a, b) }
    case .count: sections.sort { a, b in a.count != b.count ? a.count > b.count : isBefore(a, b) }
    case .list(let values):
      func place(_ section: Section) -> Int {
        values.firstIndex { Self.order($0, section.value) == 0 } ?? .max
      }
      sections.sort { a, b in place(a) != place(b) ? place(a) < place(b) : isBefore(a, b) }
    case .ranked, .compared:
      sections.sort { a, b in
        let (x, y) = (ModelRequest.rank(a.value), ModelRequest.rank(b.value))
        return x != y ? x > y : isBefore(a, b)
      }
    case .extreme(let field, let isMaximum, let isDescending):
      func extreme(_ section: Section) -> DocumentValue? {
        section.items.map { table.rows[$0.id]?.document[field] ?? .null }.filter { !$0.isNull }
          .reduce(nil) { best, value in
            guard let best else { return value }
            return (Self.order(value, best) > 0) == isMaximum ? value : best
          }
      }
      let places = sections.map { (section: $0, value: extreme($0)) }
      sections = places.sorted { a, b in
        guard let x = a.value, let y = b.value else {
          if (a.value == nil) != (b.value == nil) { return a.value != nil }
          return (a.section.count > 0) == (b.section.count > 0)
            ? isBefore(a.section, b.section) : a.section.count > 0
        }
        let order = Self.order(x, y)
        return order != 0 ? (order < 0) != isDescending : isBefore(a.section, b.section)
      }.map(\.section)
    }
    for index in sections.indices {
      sections[index].items = Self.cut(sections[index].items, request.sectionWindow)
    }
    let all = sections.indices.flatMap { index in sections[index].items.map { (index, $0) } }
    for index in sections.indices { sections[index].items = [] }
    for (index, item) in Self.cut(all, request.window) { sections[index].items.append(item) }
    if request.section != nil { sections.removeAll { $0.items.isEmpty && !isDeclared($0) } }
    self.sections = sections
  }

  /// What a window leaves, by counting alone.
  static func cut<Element>(_ all: [Element], _ window: ListWindow) -> [Element] {
    window.pin == .beginning
      ? Array(all.dropFirst(window.offset).prefix(window.length ?? .max))
      : Array(all.dropLast(window.offset).suffix(window.length ?? .max))
  }

  /// Whether a value can be the section of a row.
  static func isKey(_ value: DocumentValue) -> Bool {
    if case .array = value { false } else { true }
  }

  /// A section's value as its key gives it back: 1.0 and 1 are one section, and −0 is 0.
  static func asRead(_ value: DocumentValue) -> DocumentValue {
    guard case .double(let number) = value, let whole = Int64(exactly: number) else { return value }
    return .int(whole)
  }

  /// Null < booleans < numbers < strings by UTF-8: only what the tests put into documents.
  static func order(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    func rank(_ value: DocumentValue) -> Int {
      switch value {
      case .null: 0
      case .bool: 1
      case .int, .double: 2
      default: 3
      }
    }
    func number(_ value: DocumentValue) -> Double {
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      default: 0
      }
    }
    guard rank(a) == rank(b) else { return rank(a) - rank(b) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.string(let a), .string(let b)):
      if a.utf8.elementsEqual(b.utf8) { return 0 }
      return a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    case (.null, .null): return 0
    default:
      let (x, y) = (number(a), number(b))
      if x.isNaN || y.isNaN { return (x.isNaN ? 1 : 0) - (y.isNaN ? 1 : 0) }
      return x < y ? -1 : x > y ? 1 : 0
    }
  }
}

extension ModelRequest {
  /// An order of sections that their keys know nothing of, with ties.
  static func rank(_ section: DocumentValue) -> Int { section.json().utf8.count % 3 }

  /// Whether a section stands before another where nothing else decides.
  func isBefore(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    if a.isNull != b.isNull { return a.isNull != (nils == .last) }
    return ModelList.order(a, b) < 0
  }

  /// The same as a request of the library.
  var request: ListRequest<DocumentRow, DocumentValue> {
    var request = ListRequest(DocumentRow.self)
      .sectioned(byField: FieldPath(names: [section ?? "-"]), nils: nils).keepingEmpty(declared)
    switch order {
    case .key: break
    case .keyDescending: request = request.sectionsOrdered(by: .keyDescending)
    case .first: request = request.sectionsOrdered(by: .first)
    case .count: request = request.sectionsOrdered(by: .count)
    case .list(let values): request = request.sectionsOrdered(by: .list(values))
    case .ranked: request = request.sectionsOrdered(by: "rank", .reverse, key: Self.rank)
    case .compared:
      request = request.sectionsOrdered(by: "rank", areInIncreasingOrder: { Self.rank($0) > Self.rank($1) })
    case .extreme(let field, let isMaximum, let isDescending):
      let (path, direction) = (FieldPath(names: [field]), isDescending ? SortDirection.reverse : .forward)
      request =
        isMaximum
        ? request.sectionsOrdered(byMaximumOfField: path, direction)
        : request.sectionsOrdered(byMinimumOfField: path, direction)
    }
    if section == nil { request.section = nil }
    for sort in sorts {
      request = request.sorted(
        byField: FieldPath(names: [sort.field]), sort.isDescending ? .reverse : .forward,
        sort.areNilsLast ? .nilsLast : [])
    }
    if let flag {
      request = request.filtered("flag \(flag)") { $0.fields["flag"] == .bool(flag) }
    }
    return request.windowed(to: window).windowed(perSection: sectionWindow)
  }
}

extension ModelList {
  /// What a version of a list shows.
  init(_ list: ListVersion) {
    sections = (0..<list.sectionCount).map { rank in
      let (value, count, shown) = list.withSection(at: rank) { section, count, shown in
        var reader = SortKeyReader(section)
        return (list.isSectioned ? (try? reader.readDocumentValue()) ?? .string("?") : .null, count, shown)
      }
      var items: [Item] = []
      list.forEachItem(inSectionAt: rank, 0..<shown) { key in
        let revision = list.table.withRow(key.id) { $0.map { XXH64.of($0.document) >> 1 } ?? 0 }
        items.append(Item(id: Array(key.id), revision: revision))
      }
      return Section(value: value, count: count, items: items)
    }
  }

  /// The list after a batch, by its four steps. Revisions and counts of what stays are taken from `new`, where
  /// the batch only says that they changed.
  func applying(_ diff: ListDiff, toward new: ModelList) throws(ModelError) -> ModelList {
    var sections = sections
    func take(_ id: String, _ from: ListIndex) throws(ModelError) {
      guard from.section < self.sections.count, from.item < self.sections[from.section].items.count,
        self.sections[from.section].items[from.item].id.elementsEqual(id.utf8)
      else { throw ModelError(what: "\(id) is not at \(from)") }
    }
    var gone: [ListIndex: Bool] = [:]
    var moving: [[UInt8]: Item] = [:]
    for change in diff.deletions {
      try take(change.id, change.from)
      gone[change.from] = true
    }
    for change in diff.moves {
      try take(change.id, change.from)
      guard gone[change.from] == nil else { throw ModelError(what: "\(change.from) is taken out twice") }
      gone[change.from] = true
      moving[Array(change.id.utf8)] = self.sections[change.from.section].items[change.from.item]
    }
    for change in diff.updates {
      try take(change.id, change.from)
      guard gone[change.from] == nil else { throw ModelError(what: "\(change.from) is taken out and updated") }
      guard change.to.section < new.sections.count,
        change.to.item < new.sections[change.to.section].items.count
      else { throw ModelError(what: "\(change.to) is not in the new list") }
      sections[change.from.section].items[change.from.item].revision =
        new.sections[change.to.section].items[change.to.item].revision
    }
    for position in gone.keys.sorted(by: >) { sections[position.section].items.remove(at: position.item) }
    var movingSections: [Int: Section] = [:]
    for move in diff.sectionMoves { movingSections[move.to] = sections[move.from] }
    for rank in (diff.sectionDeletions.map(\.from) + diff.sectionMoves.map(\.from)).sorted(by: >) {
      let isDeleted = diff.sectionDeletions.contains { $0.from == rank }
      guard !isDeleted || sections[rank].items.isEmpty else {
        throw ModelError(what: "section \(rank) is deleted with items in it")
      }
      sections.remove(at: rank)
    }
    for change in diff.sectionInsertions {
      movingSections[change.to] = Section(value: Self.value(of: change.section), count: change.count, items: [])
    }
    for (rank, section) in movingSections.sorted(by: { $0.key < $1.key }) {
      guard rank <= sections.count else { throw ModelError(what: "section \(rank) is put in behind the end") }
      sections.insert(section, at: rank)
    }
    let put =
      diff.insertions.map { ($0.to, $0.id, false) } + diff.moves.map { ($0.to, $0.id, $0.isChanged) }
    for (to, id, isChanged) in put.sorted(by: { $0.0 < $1.0 }) {
      guard to.section < sections.count, to.item <= sections[to.section].items.count else {
        throw ModelError(what: "\(id) is put in at \(to), behind the end")
      }
      var item = moving[Array(id.utf8)] ?? new.sections[to.section].items[to.item]
      if isChanged { item.revision = new.sections[to.section].items[to.item].revision }
      sections[to.section].items.insert(item, at: to.item)
    }
    for change in diff.sectionUpdates { sections[change.to].count = change.count }
    return ModelList(sections: sections)
  }

  static func value(of key: [UInt8]) -> DocumentValue {
    key.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return bytes.isEmpty ? .null : (try? reader.readDocumentValue()) ?? .string("?")
    }
  }
}

struct ModelError: Error, Equatable { var what: String }
