// Where the rows of a list come from: documents, or a table of a projection.

internal import StrataDocuments
public import StrataEvents
package import StrataLog

/// Rows of one type, kept by a store: what a list is made of.
public protocol RowSource<Item>: Sendable {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  /// Which table, and how its rows become items.
  var table: RowTable<Item> { get }
}

/// A table of a store, and how its rows become items.
public struct RowTable<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  package let store: EventStore
  package let folding: Folding
  package let name: String
  package let decode: @Sendable (RowView) throws(RowProblem) -> Item

  package init(
    store: EventStore, folding: Folding, name: String,
    decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) {
    self.store = store
    self.folding = folding
    self.name = name
    self.decode = decode
  }

  package var projector: Projector { store.projector(folding) }
}

extension RowTable where Item: Decodable {
  /// Rows decoded by their type's own `init(from:)`. A row that decodes to an item with another id is none.
  init(decoding store: EventStore, folding: Folding, name: String) {
    self.init(store: store, folding: folding, name: name) { (row) throws(RowProblem) in
      let item: Item
      do { item = try CBORDecoder().decode(Item.self, from: row.document) } catch {
        throw RowProblem(what: RowProblem.sentence(for: error, decoding: Item.self))
      }
      try row.check(item.id)
      return item
    }
  }
}

extension RowView {
  /// Checks that an item's id is the row's, in the one form in which its type writes it. `07` would be a second 7, and
  /// an id that is another row's would be shown for it.
  package func check(_ itemID: some DocumentID) throws(RowProblem) {
    var text = itemID.documentID
    let isSame = text.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: id) }
    guard isSame else {
      throw RowProblem(what: DocumentIDMismatch.sentence(stream: idText, document: text))
    }
  }
}

extension RowProblem {
  /// What did not decode, and at which coding path.
  static func sentence(for error: any Error, decoding type: Any.Type) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "" : " at \(path)"
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "it does not decode as \(type)\(place(context)): there is no \(key.stringValue)"
    case DecodingError.valueNotFound(let wanted, let context):
      return "it does not decode as \(type)\(place(context)): a null stands where \(wanted) should be"
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context):
      return "it does not decode as \(type)\(place(context)): \(context.debugDescription)"
    default:
      return "it does not decode as \(type): \(error)"
    }
  }
}

extension DocumentCollection: RowSource {
  public var table: RowTable<Item> {
    RowTable(decoding: store, folding: .documents(only: nil), name: category)
  }
}

/// The documents of a category, without a type of their own.
public struct DocumentTable: RowSource {
  public let store: EventStore
  public let category: String

  public var table: RowTable<DocumentRow> {
    RowTable(store: store, folding: .documents(only: nil), name: category) { (row) throws(RowProblem) in
      try DocumentRow(row)
    }
  }
}

/// A table of a projection.
public struct ProjectedTable<Item: Codable & Identifiable & Sendable>: RowSource where Item.ID: DocumentID {
  public let store: EventStore
  public let key: TableKey<Item>
  let projection: any Projection

  public var table: RowTable<Item> {
    RowTable(decoding: store, folding: .own(projection), name: key.name)
  }

  /// A row as the newest state has it, nil where there is none. It sees every append that this store had
  /// acknowledged, or seen of its writer, before the call.
  public subscript(id: Item.ID) -> Item? {
    get async throws { try await table.row(id.documentID) }
  }
}

extension EventStore {
  /// The documents of a category for lists and readers that know no type for them.
  public func documents(_ category: String) -> DocumentTable {
    DocumentTable(store: self, category: category)
  }

  /// A table of a projection. All tables of one projection are folded together, once for all who read them.
  ///
  /// A row's `id` is the one that the projection keeps it under; lists report any other as a problem.
  public func table<Item>(_ key: TableKey<Item>, of projection: some Projection) -> ProjectedTable<Item> {
    ProjectedTable(store: self, key: key, projection: projection)
  }

  /// The events that a projection could not apply, as the newest state has them.
  public func failures(of projection: some Projection) async throws -> ProjectionFailures {
    try await projector(.own(projection)).state(reaching: head.sequence).failures
  }
}

extension RowTable {
  /// A row of the newest state.
  package func row(_ id: String) async throws -> Item? {
    let set = try await projector.state(reaching: store.head.sequence)
    return try row(id, in: set)
  }

  package func row(_ id: String, in set: TableSet) throws(StoreError) -> Item? {
    var id = id
    do throws(RowProblem) {
      return try id.withUTF8Row { (bytes) throws(RowProblem) in
        try set[name].withRow(bytes) { (row) throws(RowProblem) in
          guard let row else { return nil }
          return try decode(row)
        }
      }
    } catch {
      throw .invalid(what: "\(name)/\(id): \(error.what)")
    }
  }

  /// The state at a point: the projector's at the head, a fold from the beginning for the past.
  package func state(at point: LogPoint) async throws -> TableSet {
    if point == .head { return try await projector.state(reaching: store.head.sequence) }
    return try await store.states(at: [point], folding)[0]
  }
}

extension String {
  /// Lends the UTF-8, with a typed error.
  package mutating func withUTF8Row<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    withUTF8 { bytes in
      do throws(Failure) {
        outcome = .success(try body(UnsafeRawBufferPointer(bytes)))
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.unsafelyUnwrapped.get()
  }
}
