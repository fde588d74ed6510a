// Writing a planned move: each row's rank and section as an event of its document.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataPast
internal import StrataTables

/// Makes the events of a move.
struct RowEditor<Item: Codable & Identifiable & Sendable, Section: Hashable & Sendable>
where Item.ID: DocumentID {
  let request: ListRequest<Item, Section>
  let rows: RowTable<Item>
  let rank: ManualRank<Item>
  let definition: ViewDefinition
  /// The metadata of each event.
  let metadata: DocumentObject

  /// Throws if rows of the list cannot be moved.
  init(
    _ request: ListRequest<Item, Section>, _ rows: RowTable<Item>, _ metadata: DocumentObject
  ) throws(ListEditError) {
    try rows.checkEditable()
    guard let rank = request.sorts.first?.manualRank else {
      let isLater = request.sorts.contains { $0.manualRank != nil }
      throw .notEditable(
        isLater
          ? "the list is sorted by \(request.sorts[0].name) first, and its manual order only breaks ties"
          : "the list has no manual order, so its rows cannot be moved")
    }
    self.request = request
    self.rows = rows
    self.rank = rank
    self.metadata = metadata
    do throws(ListError) { definition = try request.compiled(decode: rows.decode).definition } catch {
      throw .list(error)
    }
  }

  var isReverse: Bool { request.sorts.first?.options.contains(.descending) ?? false }

  /// The event that gives a row its new rank and section; nil if the row already has them.
  func event(for change: MovePlan.Row, in table: Table) throws(ListEditError) -> NewEvent? {
    let name = String(decoding: change.id, as: UTF8.self)
    let stream = StreamName(category: rows.name, id: name)
    let found = try change.id.lendBytes { id throws(ListEditError) in
      try table.withRow(id) { (row) throws(ListEditError) in
        if let row { try contents(of: row) } else { nil as (DocumentValue, Item)? }
      }
    }
    guard let (document, item) = found else { throw .absent("\(stream) does not exist") }
    let target = try edited(document, item, change)
    if target == document { return nil }
    if let patch = DocumentValue.mergePatch(from: document, to: target) {
      return NewEvent(DocumentEvent.merge, in: stream, patch, metadata: metadata)
    }
    return NewEvent(DocumentEvent.put, in: stream, target, metadata: metadata)
  }

  private func contents(of row: RowView) throws(ListEditError) -> (DocumentValue, Item) {
    do throws(RowProblem) {
      let item = try rows.decode(row)
      do throws(CodecError) { return (try DocumentValue(cbor: row.document), item) } catch {
        throw RowProblem(what: "the document is damaged: \(error)")
      }
    } catch {
      throw .notEditable("\(row.idText): \(error.what)")
    }
  }

  private func edited(
    _ document: DocumentValue, _ item: Item, _ change: MovePlan.Row
  ) throws(ListEditError) -> DocumentValue {
    // Encoded now, because an instance of a class is changed in place.
    let before = try encoded(item)
    var new = item
    var fields: [(path: FieldPath, value: DocumentValue)] = []
    if let text = change.rank {
      switch rank.place {
      case .keyPath(let keyPath): new[keyPath: keyPath] = text
      case .field(let path): fields.append((path, .string(text)))
      }
    }
    if let key = change.section, let field = try setSection(key, of: &new) { fields.append(field) }
    var target = document.replacing(before, by: try encoded(new))
    for (path, value) in fields { target = try path.set(value, in: target) }
    if !fields.isEmpty { try checkDecodes(target) }
    return target
  }

  private func encoded(_ item: Item) throws(ListEditError) -> DocumentValue {
    do { return try DocumentValue(encoding: item) } catch {
      throw .notEditable("\(Item.self) cannot be encoded: \(error)")
    }
  }

  /// A field is written past `Item`, which may want another type there.
  private func checkDecodes(_ document: DocumentValue) throws(ListEditError) {
    do { _ = try document.decode(Item.self) } catch {
      let what = RowProblem.sentence(for: error, decoding: Item.self)
      throw .notEditable("after the edit, \(what)")
    }
  }

  /// Sets the section's property, or returns the field to set and its value.
  private func setSection(
    _ key: [UInt8], of item: inout Item
  ) throws(ListEditError) -> (path: FieldPath, value: DocumentValue)? {
    guard let part = request.section else { return nil }
    guard !SectionBytes.mayBeShortened(key) else {
      throw .notEditable(
        "what a list has of the section's value may be its beginning and a hash, so it cannot be written")
    }
    if let path = part.field?.path {
      guard path.subject == .field else {
        throw .notEditable("sections are computed by \(part.name), which cannot be written")
      }
      let value = key.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        return try? reader.readDocumentValue()
      }
      guard let value else { throw .notEditable("the section's value cannot be written to \(part.name)") }
      return (path, value)
    }
    guard let keyPath = part.keyPath as? WritableKeyPath<Item, Section>,
      let section = key.withUnsafeBytes({ request.decodeSection($0) })
    else { throw .notEditable("sections are computed by \(part.name), which cannot be written") }
    item[keyPath: keyPath] = section
    return nil
  }
}

extension RowTable {
  /// Throws if the rows are not documents but made by a projection.
  func checkEditable() throws(ListEditError) {
    guard case .documents = folding else {
      throw .notEditable("the rows of \(name) come from a projection")
    }
  }
}

extension FieldPath {
  /// The document with the field set, or removed by null. Throws if a value that is not an object is in the way.
  fileprivate func set(
    _ value: DocumentValue, in document: DocumentValue
  ) throws(ListEditError) -> DocumentValue {
    var holder = document
    for name in names.dropLast() {
      guard case .object(let object) = holder, let next = object[name], !next.isNull else { break }
      guard case .object = next else {
        throw .notEditable("\(self) cannot be set: \(FieldPath.quoted(name)) is not an object")
      }
      holder = next
    }
    let patch = names.reversed().reduce(value) { inner, name in .object([name: inner]) }
    return document.applying(mergePatch: patch)
  }
}
