// What a list shall be: which rows, in which sections, in which order, and how many of them.

public import StrataEvents
public import StrataTables

/// The section of a list without sections.
public struct Unsectioned: Hashable, Sendable {
  public init() {}
}

/// A list as a value: built up by calls that each return a new one.
///
/// ```swift
/// let request = ListRequest(Incident.self)
///   .sectioned(by: \.status)
///   .sorted(by: \.product).sorted(by: \.id, .reverse)
///   .filtered(by: "impact == 'High'")
///   .limited(to: 200)
/// ```
///
/// Two requests are equal when they are made of equal key paths, field paths, filters, limits, and closures of
/// the same name and version. Equal requests share their work.
public struct ListRequest<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  var section: KeyPart<Item>?
  /// How a section is read back from its key.
  var decodeSection: @Sendable (UnsafeRawBufferPointer) -> Section?
  /// How a section becomes a key, for explicit orders.
  var encodeSection: @Sendable (Section) -> [UInt8]
  var sectionOrder: ListSectionOrder<Section> = .key
  var sorts: [KeyPart<Item>] = []
  var filters: [FilterPart<Item>] = []
  var window = ListWindow.all
  var reportsTouches = false
}

extension ListRequest where Section == Unsectioned {
  /// All rows of a type, in the order in which they were created.
  public init(_ type: Item.Type = Item.self) {
    decodeSection = { _ in Unsectioned() }
    encodeSection = { _ in [] }
  }
}

/// From the first to the last, or the other way.
public enum SortDirection: Hashable, Sendable {
  case forward
  case reverse
}

/// In which order the sections of a list stand. Ties stand by section, ascending.
public enum ListSectionOrder<Section: Hashable & Sendable>: Hashable, Sendable {
  /// By the section itself, nil first.
  case key
  case keyDescending
  /// These first, in this order, and all others behind them by key.
  case list([Section])
  /// In the order in which the sections first appear where all items are sorted without sections.
  case first
  /// The section with the most items first.
  case count
}

// MARK: Sections

extension ListRequest {
  /// The same rows in sections by a property.
  public func sectioned<Value: SortKey & Hashable>(
    by keyPath: any KeyPath<Item, Value> & Sendable
  ) -> ListRequest<Item, Value> {
    sectioned(by: KeyPart(keyPath, []), decode: { reader throws(SortKeyError) in try reader.read() }) {
      $0.append($1)
    }
  }

  /// The same rows in sections by a field of their documents. A missing field and null are one section.
  public func sectioned(byField path: FieldPath) -> ListRequest<Item, DocumentValue> {
    sectioned(
      by: KeyPart(field: path, []), decode: { reader throws(SortKeyError) in try reader.readDocumentValue() }
    ) { writer, value in
      value.cbor().withUnsafeBytes { bytes in
        // A value that is no key is the section of no row.
        do throws(SortKeyError) { try writer.append(documentValue: bytes) } catch {}
      }
    }
  }

  private func sectioned<Value: Hashable & Sendable>(
    by part: KeyPart<Item>,
    decode: @escaping @Sendable (inout SortKeyReader) throws(SortKeyError) -> Value,
    encode: @escaping @Sendable (inout SortKeyWriter, Value) -> Void
  ) -> ListRequest<Item, Value> {
    var request = ListRequest<Item, Value>(
      section: part,
      decodeSection: { bytes in
        var reader = SortKeyReader(bytes)
        return try? decode(&reader)
      },
      encodeSection: { value in
        var writer = SortKeyWriter()
        encode(&writer, value)
        return writer.bytes
      })
    request.sorts = sorts
    request.filters = filters
    request.window = window
    request.reportsTouches = reportsTouches
    return request
  }

  /// The same sections in another order.
  public func sectionsOrdered(by order: ListSectionOrder<Section>) -> Self {
    with { $0.sectionOrder = order }
  }
}

// MARK: Order

extension ListRequest {
  /// Sorted by a property; calls after the first one break ties. Remaining ties stand by the ids' bytes,
  /// ascending.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`.
  public func sorted<Value: SortKey>(
    by keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(keyPath, options.directed(direction))) }
  }

  /// Sorted by a field of the documents.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`, `.time`.
  public func sorted(
    byField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(field: path, options.directed(direction))) }
  }
}

// MARK: Rows

extension ListRequest {
  /// Only rows that pass a filter; several calls must all be passed.
  public func filtered(by filter: RowFilter) -> Self {
    with { $0.filters.append(FilterPart(filter)) }
  }

  /// Only rows that pass a filter as text. A syntax error is thrown by the fetch.
  public func filtered(by text: String) -> Self {
    with { $0.filters.append(FilterPart(text: text)) }
  }

  /// Only rows that a closure accepts. The closure is pure, and its name and version stand for it: give it
  /// another version when it changes its meaning.
  public func filtered(
    _ name: String, version: Int = 1, _ passes: @escaping @Sendable (Item) -> Bool
  ) -> Self {
    with { $0.filters.append(FilterPart(name: name, version: version, passes)) }
  }

  /// Only rows that a closure accepts. A request with a closure that has no name equals only its own copies.
  public func filtered(_ passes: @escaping @Sendable (Item) -> Bool) -> Self {
    with { $0.filters.append(FilterPart(passes)) }
  }

  /// At most so many items of the whole list, at every moment.
  public func limited(to limit: Int) -> Self {
    precondition(limit >= 0, "a limit is at least 0")
    return with { $0.window.limit = limit }
  }

  /// At most so many items of each section, at every moment.
  public func limited(perSection limit: Int) -> Self {
    precondition(limit >= 0, "a limit is at least 0")
    return with { $0.window.sectionLimit = limit }
  }

  private func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

extension SortKeyOptions {
  fileprivate func directed(_ direction: SortDirection) -> SortKeyOptions {
    direction == .reverse ? union(.descending) : subtracting(.descending)
  }
}

extension ListRequest: Hashable {
  public static func == (a: Self, b: Self) -> Bool {
    a.section == b.section && a.encodedOrder == b.encodedOrder && a.sorts == b.sorts
      && a.filters == b.filters && a.window == b.window && a.reportsTouches == b.reportsTouches
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(section)
    hasher.combine(encodedOrder)
    hasher.combine(sorts)
    hasher.combine(filters)
    hasher.combine(window)
    hasher.combine(reportsTouches)
  }
}
