// Writing a planned move: each row's rank and section as an event of its document.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Makes the events of a move.
struct RowEditor<Item: Codable & Identifiable & Sendable, Section: Hashable & Sendable>
where Item.ID: DocumentID {
  let request: ListRequest<Item, Section>
  let rows: RowTable<Item>
  let rank: ManualRank<Item>
  let definition: ViewDefinition

  /// Throws if rows of the list cannot be moved.
  init(_ request: ListRequest<Item, Section>, _ rows: RowTable<Item>) throws(ListEditError) {
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
      return NewEvent(DocumentEvent.merge, in: stream, patch)
    }
    return NewEvent(DocumentEvent.put, in: stream, target)
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
    var new = item
    var patches: [DocumentValue] = []
    if let text = change.rank {
      switch rank.place {
      case .keyPath(let keyPath): new[keyPath: keyPath] = text
      case .field(let path): patches.append(path.patch(with: .string(text)))
      }
    }
    if let key = change.section, let patch = try setSection(key, of: &new) { patches.append(patch) }
    do {
      let (before, after) = (try DocumentValue(encoding: item), try DocumentValue(encoding: new))
      return patches.reduce(document.replacing(before, by: after)) { $0.applying(mergePatch: $1) }
    } catch {
      throw .notEditable("\(Item.self) cannot be encoded: \(error)")
    }
  }

  /// Sets the section's property, or returns the patch that sets its field.
  private func setSection(_ key: [UInt8], of item: inout Item) throws(ListEditError) -> DocumentValue? {
    guard let part = request.section else { return nil }
    if let path = part.field?.path {
      guard path.subject == .field else {
        throw .notEditable("sections are computed by \(part.name), which cannot be written")
      }
      let value = key.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        return try? reader.readDocumentValue()
      }
      guard let value else { throw .notEditable("the section's value cannot be written to \(part.name)") }
      return path.patch(with: value)
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
  /// The merge patch that sets the field; null removes it.
  fileprivate func patch(with value: DocumentValue) -> DocumentValue {
    names.reversed().reduce(value) { inner, name in .object([name: inner]) }
  }
}
