// One component of a row's key: a key path or a field path, and its sort options.

internal import StrataEvents
package import StrataTables

/// A component of a key, identified by what it reads.
package struct KeyPart<Item: Sendable>: Sendable {
  private enum Identity: Hashable, Sendable {
    case keyPath(AnyKeyPathBox)
    case field(FieldPath)
    case manual(ManualRank<Item>)
  }

  private let identity: Identity
  package let options: SortKeyOptions
  /// Whether a row without a value is reported as a problem.
  let isRequired: Bool
  /// Whether it needs the row decoded as an `Item`.
  let needsItem: Bool
  /// Appends the component of a row; the pointer is to its item, nil if the row was not decoded.
  let appendAt: ItemPlacer.Append

  init<Value: SortKey>(
    _ keyPath: any KeyPath<Item, Value> & Sendable, _ options: SortKeyOptions, isRequired: Bool = false
  ) {
    identity = .keyPath(AnyKeyPathBox(keyPath: keyPath))
    self.options = options
    self.isRequired = isRequired
    needsItem = true
    // A stored property is read where it is, which is much faster than following a key path.
    let offset = MemoryLayout<Item>.offset(of: keyPath)
    appendAt = { _, item, writer throws(RowProblem) in
      guard let item else { throw RowProblem(what: "it was not decoded") }
      let start = writer.count
      if let offset {
        writer.append((item + offset).assumingMemoryBound(to: Value.self).pointee, options)
      } else {
        writer.append(item.assumingMemoryBound(to: Item.self).pointee[keyPath: keyPath], options)
      }
      if isRequired, writer.isNil(from: start) { throw RowProblem(what: "it has no section, but needs one") }
    }
  }

  init(field path: FieldPath, _ options: SortKeyOptions, isRequired: Bool = false) {
    identity = .field(path)
    self.options = options
    self.isRequired = isRequired
    needsItem = false
    let field = FieldKey(path: path, options: options, isRequired: isRequired)
    appendAt = { row, _, writer throws(RowProblem) in try field.append(row, to: &writer) }
  }

  init(manual rank: ManualRank<Item>, _ options: SortKeyOptions) {
    identity = .manual(rank)
    self.options = options
    isRequired = false
    needsItem = true
    appendAt = { row, item, writer throws(RowProblem) in
      guard let item else { throw RowProblem(what: "it was not decoded") }
      writer.append(rank.text(of: row, item.assumingMemoryBound(to: Item.self).pointee), options)
    }
  }

  /// Appends the component of a row.
  package func append(_ row: RowView, _ item: Item?, _ writer: inout SortKeyWriter) throws(RowProblem) {
    guard let item else { return try appendAt(row, nil, &writer) }
    try withUnsafePointer(to: item) { (item) throws(RowProblem) in try appendAt(row, item, &writer) }
  }

  /// The rank of a manual order, nil for any other order.
  package var manualRank: ManualRank<Item>? { if case .manual(let rank) = identity { rank } else { nil } }

  /// The property that it reads, nil if it reads none.
  package var keyPath: AnyKeyPath? { if case .keyPath(let box) = identity { box.keyPath } else { nil } }

  /// Whether it is a manual order.
  var isManual: Bool { if case .manual = identity { true } else { false } }

  /// The key path or the field path as text.
  package var name: String {
    switch identity {
    case .keyPath(let box): "\(box.keyPath as AnyKeyPath)"
    case .field(let path): path.description
    case .manual(let rank): rank.name
    }
  }

  /// The path of the field that it names, including the field of a manual order; nil if it names a property of the
  /// item.
  var path: FieldPath? {
    switch identity {
    case .keyPath: nil
    case .field(let path): path
    case .manual(let rank): if case .field(let path) = rank.place { path } else { nil }
    }
  }

  /// The field that it reads, nil if it reads a property of the item.
  package var field: FieldKey? {
    guard case .field(let path) = identity else { return nil }
    return FieldKey(path: path, options: options, isRequired: isRequired)
  }
}

/// A component of a key that is read from the row's encoded bytes. A class, so that using it counts at most one
/// reference and not one for each array of the path.
package final class FieldKey: Sendable {
  package let path: FieldPath
  let options: SortKeyOptions
  let isRequired: Bool

  init(path: FieldPath, options: SortKeyOptions, isRequired: Bool) {
    self.path = path
    self.options = options
    self.isRequired = isRequired
  }

  func append(_ row: RowView, to writer: inout SortKeyWriter) throws(RowProblem) {
    let start = writer.count
    do throws(SortKeyError) {
      switch path.subject {
      case .field: try writer.append(documentValue: path.find(in: row.document), options)
      case .id: writer.append(row.idText, options)
      case .revision: writer.append(row.revision, options)
      case .time: writer.append(Timestamp(nanoseconds: row.time), options)
      case .section: throw .outOfRange
      }
    } catch {
      throw RowProblem(what: "its field \(path): \(error)")
    }
    if isRequired, writer.isNil(from: start) {
      throw RowProblem(what: "its field \(path) is missing or null, so it has no section")
    }
  }
}

extension KeyPart: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    a.identity == b.identity && a.options == b.options && a.isRequired == b.isRequired
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(identity)
    hasher.combine(options)
    hasher.combine(isRequired)
  }
}
