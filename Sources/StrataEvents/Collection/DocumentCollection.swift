// A category of documents of one Codable type.

internal import StrataBase
internal import StrataDocuments
public import StrataLog

/// A type of document ids, with their text form in stream names.
public protocol DocumentID: Hashable, Sendable {
  /// The part of the stream's name after the first `/`.
  var documentID: String { get }
  init?(documentID: String)
}

extension String: DocumentID {
  public var documentID: String { self }
  public init?(documentID: String) { self = documentID }
}

extension DocumentID where Self: FixedWidthInteger {
  public var documentID: String { String(self) }
  public init?(documentID: String) {
    guard let value = Self(documentID) else { return nil }
    self = value
  }
}

extension Int: DocumentID {}
extension Int64: DocumentID {}
extension Int32: DocumentID {}
extension UInt64: DocumentID {}
extension UInt32: DocumentID {}

extension DocumentID where Self: RawRepresentable, RawValue: DocumentID {
  public var documentID: String { rawValue.documentID }
  public init?(documentID: String) {
    guard let raw = RawValue(documentID: documentID) else { return nil }
    self.init(rawValue: raw)
  }
}

/// The documents of one type in one category: the document with the id `x` is the stream `category/x`.
public struct DocumentCollection<Item: Codable & Identifiable & Sendable>: Sendable
where Item.ID: DocumentID {
  public let store: EventStore
  public let category: String

  /// Writes a whole document.
  ///
  /// Throws `invalid` if the document cannot be encoded, or if the `id` in it is not the id of its stream. Lists and
  /// reads refuse such a document too.
  @discardableResult
  public func put(
    _ item: Item, expecting version: ExpectedVersion = .any, metadata: DocumentObject = [:]
  ) async throws -> AppendReceipt {
    let event = try putEvent(item, metadata: metadata)
    return try await store.append(
      store.draft([event], id: nil, time: nil, expecting: [event.stream: version], isOwn: false))
  }

  /// Writes many documents as one append; nil, and no append, if there are none.
  ///
  /// - Parameters:
  ///   - versions: the versions that documents must have. All are checked before anything is appended, also those of
  ///     documents that are not among the items.
  ///   - metadata: the metadata of each of the events.
  @discardableResult
  public func put(
    _ items: [Item], expecting versions: [Item.ID: ExpectedVersion] = [:], metadata: DocumentObject = [:]
  ) async throws -> AppendReceipt? {
    if items.isEmpty { return nil }
    var events: [NewEvent] = []
    events.reserveCapacity(items.count)
    for item in items { events.append(try putEvent(item, metadata: metadata)) }
    var expectations: [StreamName: ExpectedVersion] = [:]
    for (id, version) in versions { expectations[try stream(of: id)] = version }
    return try await store.append(
      store.draft(events, id: nil, time: nil, expecting: expectations, isOwn: false))
  }

  /// Deletes a document. Deleting one that does not exist is recorded, and changes nothing.
  @discardableResult
  public func delete(
    _ id: Item.ID, expecting version: ExpectedVersion = .any, metadata: DocumentObject = [:]
  ) async throws -> AppendReceipt {
    let event = try deleteEvent(id, metadata: metadata)
    return try await store.append(
      store.draft([event], id: nil, time: nil, expecting: [event.stream: version], isOwn: false))
  }

  /// Returns the stream of a document. Throws `invalid` if its name would be too long, or the id is empty.
  public func stream(of id: Item.ID) throws(StoreError) -> StreamName {
    let text = id.documentID
    guard !text.isEmpty else { throw .invalid(what: "a document's id is empty") }
    let name = StreamName(category: category, id: text)
    try name.check()
    return name
  }

  func putEvent(_ item: Item, metadata: DocumentObject = [:]) throws(StoreError) -> NewEvent {
    let stream = try stream(of: item.id)
    let bytes: [UInt8]
    do { bytes = try CBOREncoder().encode(item) } catch {
      throw .invalid(what: "\(stream) cannot be encoded: \(error)")
    }
    try checkID(of: bytes, against: item.id.documentID, in: stream)
    return NewEvent(
      DocumentEvent.put, in: stream, payload: EventPayload(codec: .cbor, bytes: bytes), metadata: metadata)
  }

  /// Throws `invalid` if the patch would give the document another id, or none.
  func mergeEvent(
    _ id: Item.ID, _ patch: DocumentObject, metadata: DocumentObject = [:]
  ) throws(StoreError) -> NewEvent {
    let stream = try stream(of: id)
    let text = id.documentID
    var new: String?
    switch patch["id"] ?? .string(text) {
    case .string(let string): new = string
    case .int(let number): new = String(number)
    case .null: throw .invalid(what: "a merge patch of \(stream) removes the document's id")
    default: break
    }
    if let new, !new.utf8.elementsEqual(text.utf8) {
      let problem = DocumentIDMismatch.sentence(stream: text, document: new)
      throw .invalid(what: "a merge patch of \(stream) changes the document's id: \(problem)")
    }
    return NewEvent(DocumentEvent.merge, in: stream, .object(patch), metadata: metadata)
  }

  func deleteEvent(_ id: Item.ID, metadata: DocumentObject = [:]) throws(StoreError) -> NewEvent {
    NewEvent(DocumentEvent.delete, in: try stream(of: id), .null, metadata: metadata)
  }

  /// Checks that a document is a map, and that an `id` in it equals the id of its stream.
  private func checkID(of bytes: [UInt8], against id: String, in stream: StreamName) throws(StoreError) {
    let problem = bytes.withUnsafeBytes { buffer -> String? in
      var reader = CBORReader(buffer)
      guard let count = try? reader.readMapHead() else { return "\(Item.self) does not encode as an object" }
      for _ in 0..<count {
        guard let key = try? reader.readText() else { return "\(Item.self) does not encode as an object" }
        guard key == "id" else {
          guard (try? reader.skip()) != nil else { return "\(Item.self) does not encode as an object" }
          continue
        }
        guard let value = try? reader.readDocument() else { return nil }
        switch value {
        case .string(let text):
          return text == id ? nil : DocumentIDMismatch.sentence(stream: id, document: text)
        case .int(let number):
          return String(number) == id
            ? nil : DocumentIDMismatch.sentence(stream: id, document: String(number))
        default: return nil
        }
      }
      return nil
    }
    if let problem { throw .invalid(what: "the document for \(stream) is refused: \(problem)") }
  }
}

/// The message about a document whose id is not that of its stream, for every place that refuses it.
package enum DocumentIDMismatch {
  package static func sentence(stream: String, document: String) -> String {
    "its stream has the id \(stream), and the document has the id \(document)"
  }
}

extension EventStore {
  /// Returns the collection of a category's documents. From now on, this store refuses events of other types in that
  /// category.
  ///
  /// - Parameter category: what the names of the documents' streams begin with, up to the first `/`.
  /// - Precondition: `category` is not empty, has no `/`, and does not begin with `$`; every other text is valid. One
  ///   that is not valid ends the program, so check a name that is not written in the code. The length is not checked
  ///   here: a document whose stream's name has more than 1,024 bytes of UTF-8 is refused as `invalid`.
  public func collection<Item: Codable & Identifiable & Sendable>(
    _ category: String, of type: Item.Type = Item.self
  ) -> DocumentCollection<Item> where Item.ID: DocumentID {
    let bytes = Array(category.utf8)
    precondition(
      !bytes.isEmpty && !bytes.contains(UInt8(ascii: "/")) && bytes.first != UInt8(ascii: "$"),
      "a collection's category is not empty, holds no slash, and does not begin with a dollar sign")
    documentCategories.withLock { _ = $0.insert(bytes) }
    return DocumentCollection(store: self, category: category)
  }
}
