// A naive model of a list: everything is computed from scratch, from plain arrays.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

/// Rows in a dictionary.
struct ModelTable {
  struct Row: Equatable {
    var document: DocumentObject
    var revision: UInt64
    var created: UInt64
    /// The document as bytes.
    var bytes: [UInt8]
    /// A number for the bytes, which fits an Int.
    var content: UInt64

    /// The value of a field, or the revision.
    func value(at path: String) -> DocumentValue {
      path == ModelRequest.revision ? .int(Int64(revision)) : document.value(at: path)
    }
  }

  /// The rows by the UTF-8 of their ids, because Swift's strings can be equal although their bytes differ.
  var rows: [[UInt8]: Row] = [:]

  mutating func put(_ id: [UInt8], _ document: DocumentObject, at sequence: UInt64) {
    guard rows[id]?.document != document else { return }
    let bytes = DocumentValue.object(document).cbor()
    rows[id] = Row(
      document: document, revision: sequence, created: rows[id]?.created ?? sequence, bytes: bytes,
      content: XXH64.of(bytes) >> 1)
  }
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
    /// A number for the content of the row, which fits an Int. A row that is changed and changed back has its old
    /// number.
    var revision: UInt64
  }

  struct Section: Equatable {
    var value: DocumentValue
    var count: Int
    var items: [Item]
  }

  var sections: [Section] = []
}

/// A row, and the values that a request reads from it.
private struct Placed {
  var id: [UInt8]
  var row: ModelTable.Row
  var section: DocumentValue
  var keys: [DocumentValue]

  func precedes(_ other: Placed, _ sorts: [ModelRequest.Sort]) -> Bool {
    for (index, sort) in sorts.enumerated() {
      let (x, y) = (keys[index], other.keys[index])
      if x.isNull != y.isNull { return x.isNull != sort.areNilsLast }
      let order = ModelList.order(x, y)
      if order != 0 { return sort.isDescending ? order > 0 : order < 0 }
    }
    if sorts.isEmpty, row.created != other.row.created { return row.created < other.row.created }
    return id.lexicographicallyPrecedes(other.id)
  }
}

extension ModelList {
  init(_ request: ModelRequest, of table: ModelTable) {
    var rows: [Placed] = []
    for (id, row) in table.rows where request.takes(row) {
      rows.append(
        Placed(
          id: id, row: row, section: request.section.map { row.document.value(at: $0) } ?? .null,
          keys: request.sorts.map { row.document.value(at: $0.field) }))
    }
    rows.sort { $0.precedes($1, request.sorts) }
    var sections: [Section] = []
    if request.section == nil { sections = [Section(value: .null, count: 0, items: [])] }
    for row in rows {
      let index =
        sections.firstIndex { Self.order($0.value, row.section) == 0 }
        ?? {
          sections.append(Section(value: Self.asRead(row.section), count: 0, items: []))
          return sections.count - 1
        }()
      sections[index].count += 1
      sections[index].items.append(Item(id: row.id, revision: row.row.content))
    }
    func isBefore(_ a: Section, _ b: Section) -> Bool { request.isBefore(a.value, b.value) }
    let declared = request.section == nil ? [] : request.declared.filter(Self.isKey).map(Self.asRead)
    func isDeclared(_ section: Section) -> Bool { declared.contains { Self.order($0, section.value) == 0 } }
    let missing = declared.map { Section(value: $0, count: 0, items: []) }.sorted(by: isBefore)
    for section in missing where !sections.contains(where: { Self.order($0.value, section.value) == 0 }) {
      sections.append(section)
    }
    switch request.order {
    case .first: break  // The sections are already in this order.
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
        section.items.map { table.rows[$0.id]?.value(at: field) ?? .null }.filter { !$0.isNull }
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

  /// The elements that a window shows, found by counting.
  static func cut<Element>(_ all: [Element], _ window: ListWindow) -> [Element] {
    window.pin == .beginning
      ? Array(all.dropFirst(window.offset).prefix(window.length ?? .max))
      : Array(all.dropLast(window.offset).suffix(window.length ?? .max))
  }

  /// Whether a value can be the section of a row.
  static func isKey(_ value: DocumentValue) -> Bool {
    if case .array = value { false } else { true }
  }

  /// A section's value as it is decoded from its key: 1.0 and 1 are one section, and −0 is 0.
  static func asRead(_ value: DocumentValue) -> DocumentValue {
    guard case .double(let number) = value, let whole = Int64(exactly: number) else { return value }
    return .int(whole)
  }

  /// Null < booleans < numbers < strings by UTF-8. Supports only the values that the tests put into documents.
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
