// An index: the rows of a table in the order of some of their fields.

internal import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
public import StrataTables

/// An index over the rows of a table, which answers questions about some of their fields without reading all rows.
///
/// It is used by itself: by `all(where:)`, `first(where:)` and `count(where:)` of the same rows, where a filter compares
/// the index's fields, first to last, with values: `==` and `in`, then at most one field by `<`, `<=`, `>`, `>=` or
/// `beginsWith`. Other parts of the filter, joined by `&&`, are looked at in the rows that are left. `explain(where:)` says
/// which index is used. Not used are parts with `[c]`, with dates, and inside of `||` and `!`.
///
/// ```swift
/// func urgent(_ tickets: DocumentCollection<Ticket>, of product: String) async throws -> [Ticket] {
///   try tickets.index("by product", on: FieldPath("product"), FieldPath("priority"))
///   return try await tickets.all(where: "product == \(product) && priority >= 3")
/// }
/// ```
///
/// It is kept like a list that is kept under a name (`ListRequest.kept(as:)`): saved with the rows, and with
/// `StoreOptions.history` part of the history, so that questions about past points are answered by it too. Values compare as
/// they do in filters, so an index never changes an answer.
public struct RowIndex: Sendable {
  /// The name that it is kept under.
  public let name: String
  public let fields: [FieldPath]
  private let rows: RowTable<DocumentRow>
  private let request: ListRequest<DocumentRow, Unsectioned>
  private let list: CompiledList
  private let lease: ViewLease

  init(
    _ name: String, _ fields: [FieldPath], _ rows: RowTable<DocumentRow>,
    _ request: ListRequest<DocumentRow, Unsectioned>
  ) throws {
    (self.name, self.fields, self.rows, self.request) = (name, fields, rows, request)
    list = try request.compiled(decode: rows.decode)
    // The view is the one of its name from now on, before it is built. Another lease would count as a later declaration.
    let lease = rows.projector.lease(list.definition, of: rows.name)
    self.lease = lease
    // A view is built while a caller waits.
    Task.detached { _ = try? await rows.projector.state(reaching: rows.store.head.sequence, with: lease) }
  }

  /// Waits until the index is built and answers. It goes on being built if the waiting task is cancelled.
  ///
  /// Throws what folding the log throws, `store(.closed)` if the store was closed before, and `CancellationError` as soon as
  /// the task is cancelled.
  public func ready() async throws { _ = try await state() }

  /// The rows that each question looks at, since a value of theirs makes no key (an array, an object, a tagged or damaged
  /// value) or one that was cut, and why; the first hundred by the bytes of their ids.
  ///
  /// Throws what `ready()` throws.
  public var problems: [ListProblem] {
    get async throws { request.snapshot(of: try await state(), rows, list).problems }
  }

  private func state() async throws -> TableSet {
    try await ListError.wrapping {
      try await rows.projector.state(reaching: rows.store.head.sequence, with: lease)
    }
  }
}

extension RowSource {
  /// Declares an index over fields of the rows, and begins to build it in the background unless it was saved. From then on
  /// until the store is closed it is kept up to date, at the cost of a list that is shown.
  ///
  /// Of two indexes with one name only the one that was declared last is kept. O(1).
  ///
  /// - Parameters:
  ///   - name: kept with it; not empty.
  ///   - fields: one or more fields of the document, the one that is compared by `==` most often first.
  /// - Throws: `store(.invalid)` for a name or fields that cannot be those of an index.
  @discardableResult
  public func index(_ name: String, on fields: FieldPath...) throws -> RowIndex {
    try index(name, on: fields)
  }

  /// The same for fields that are known at run time.
  @discardableResult
  public func index(_ name: String, on fields: [FieldPath]) throws -> RowIndex {
    guard !name.isEmpty, !fields.isEmpty, fields.allSatisfy({ $0.subject == .field }),
      Set(fields).count == fields.count
    else {
      throw ListError.store(
        .invalid(
          what:
            "the index \(name.debugDescription) needs a name, and one or more fields of the document, each once",
          next: "name fields, such as FieldPath(\"status\"); rows are found by $id without an index"))
    }
    let table = table
    let rows = RowTable(store: table.store, folding: table.folding, name: table.name) {
      (row) throws(RowProblem) in try DocumentRow(row)
    }
    let request = fields.reduce(ListRequest(DocumentRow.self)) { $0.sorted(byField: $1) }
      .kept(as: KeptIndex.keptName(name))
    return try RowIndex(name, fields, rows, request)
  }
}
