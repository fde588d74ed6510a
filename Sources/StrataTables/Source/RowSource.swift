// Where the rows of a list come from: documents, or a table of a projection.

internal import StrataDocuments
public import StrataEvents
package import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Rows of one type, kept by a store: the source of a list.
public protocol RowSource<Item>: Sendable {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  /// The table, and how its rows become items.
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
}

extension RowTable where Item: Decodable {
  /// Rows decoded by their type's own `init(from:)`. Decoding a row to an item with another id is an error.
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
  /// Checks that an item's id is the row's id, in the one form in which its type writes it. Otherwise `07` would be a
  /// second 7, and a row could appear under the id of another row.
  package func check<ID: DocumentID>(_ itemID: ID) throws(RowProblem) {
    // The text of a UUID is too long for a string without memory of its own.
    if ID.self == UUID.self,
      unsafeBitCast(itemID, to: UUID.self).withText({ UnsafeRawBufferPointer($0).hasSameBytes(as: id) })
    {
      return
    }
    if ID.self == Int.self, isNamed(unsafeBitCast(itemID, to: Int.self)) { return }
    var text = itemID.documentID
    let isSame = text.withUTF8 { UnsafeRawBufferPointer($0).hasSameBytes(as: id) }
    guard isSame else {
      throw RowProblem(what: DocumentIDMismatch.sentence(stream: idText, document: text))
    }
  }

  /// Whether the row's id is a number's decimal text, which is not made for that.
  private func isNamed(_ number: Int) -> Bool {
    var (rest, end) = (number.magnitude, id.count)
    repeat {
      guard end > 0 else { return false }
      end -= 1
      let digit: UInt
      (rest, digit) = rest.quotientAndRemainder(dividingBy: 10)
      guard id[end] == UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit) else { return false }
    } while rest > 0
    return number < 0 ? end == 1 && id[0] == UInt8(ascii: "-") : end == 0
  }
}

extension RowProblem {
  /// What did not decode, and at which coding path.
  package static func sentence(for error: any Error, decoding type: Any.Type) -> String {
    func address(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return path.isEmpty ? "" : " at \(path)"
    }
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      return "it does not decode as \(type)\(address(context)): there is no \(key.stringValue)"
    case DecodingError.valueNotFound(let wanted, let context):
      return "it does not decode as \(type)\(address(context)): found null instead of \(wanted)"
    case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context):
      return "it does not decode as \(type)\(address(context)): \(context.debugDescription)"
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

/// The documents of a category, without a Swift type of their own.
public struct DocumentTable: RowSource {
  package let store: EventStore
  package let category: String

  public var table: RowTable<DocumentRow> {
    RowTable(store: store, folding: .documents(only: nil), name: category) { (row) throws(RowProblem) in
      try DocumentRow(row)
    }
  }
}

/// A table of a projection.
public struct ProjectedTable<Item: Codable & Identifiable & Sendable>: RowSource where Item.ID: DocumentID {
  package let store: EventStore
  package let key: TableKey<Item>
  let projection: any Projection

  public var table: RowTable<Item> {
    RowTable(decoding: store, folding: .own(projection), name: key.name)
  }
}

extension EventStore {
  /// The documents of a category, for lists and readers that do not have a Swift type for them.
  ///
  /// Unlike `collection`, this takes any text and does not end the program, and it does not reserve the category. One
  /// that has no documents is an empty table; no category has a `/`.
  public func documents(_ category: String) -> DocumentTable {
    DocumentTable(store: self, category: category)
  }

  /// A table of a projection. All tables of one projection are folded together, once for all their readers.
  ///
  /// A row's `id` must be the one under which the projection stores it; lists report any other id as a problem.
  public func table<Item>(_ key: TableKey<Item>, of projection: some Projection) -> ProjectedTable<Item> {
    ProjectedTable(store: self, key: key, projection: projection)
  }
}

extension RowTable {
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
      throw .undecodable(what: "\(name)/\(id): \(error.what)")
    }
  }
}

extension String {
  /// Lends the string's UTF-8 to a body with a typed error.
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
