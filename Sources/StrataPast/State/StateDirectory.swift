// The tree that names everything in a state: the tables with their trees, the failures, the page files.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The keys and values of the directory: see StateFormat.md.
enum StateDirectory {
  static let pageSize = 4096

  /// What a key of the directory is about: the first byte, then a number of four big-endian bytes.
  enum Kind: UInt8 {
    /// A failure of the projection, by its index in the list.
    case failure = 0x66
    /// The number of all failures.
    case failureCount = 0x6E
    /// A page file that holds pages of this state.
    case pageFile = 0x70
    /// A table, by its index in the order of tables.
    case table = 0x74
    /// A saved view, by its index in the list of views.
    case view = 0x76
  }

  static func key(_ kind: Kind, _ number: UInt32 = 0) -> [UInt8] {
    [kind.rawValue] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }

  /// The kind and the number of a key; nil for other bytes.
  static func parsed(_ key: UnsafeRawBufferPointer) -> (kind: Kind, number: UInt32)? {
    guard key.count == 5, let kind = Kind(rawValue: key[0]) else { return nil }
    return (kind, UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
  }
}

/// A state as the directory names it.
struct StateEntries {
  struct View {
    /// The index of its table.
    var table: UInt32
    var kept: KeptView
    var roots: ViewOnDisk.Roots
    /// The sequence of the state in which the view was saved.
    var sequence: UInt64
    /// The processes in a row that saved a state and did not ask for the view.
    var unaskedCount: UInt64 = 0
  }

  struct Table {
    var name: String
    var rows: StateTree
    var problems: StateTree
  }

  var tables: [Table] = []
  var views: [View] = []
  var failures: [ProjectionFailures.Failure] = []
  var failureCount = 0
  var pageFiles: Set<UInt32> = []
}

// MARK: Writing

extension StateEntries {
  /// Makes a directory name exactly these entries. Those that it has already stay, and so do the pages that hold them.
  func write(to directory: inout Tree) {
    assert(views.allSatisfy { Int($0.table) < tables.count }, "a view is over a table of its state")
    assert(
      failures.count == min(failureCount, ProjectionFailures.listedCountMax), "a failure is not listed")
    var wanted: [[UInt8]: [UInt8]] = [:]
    for (index, table) in tables.enumerated() {
      var value = RawBuffer(capacity: 128)
      value.append(text: table.name)
      table.rows.append(to: &value)
      table.problems.append(to: &value)
      wanted[StateDirectory.key(.table, UInt32(index))] = Array(value.bytes)
    }
    for (index, view) in views.enumerated() {
      var value = RawBuffer(capacity: 256)
      view.append(to: &value)
      wanted[StateDirectory.key(.view, UInt32(index))] = Array(value.bytes)
    }
    for (index, failure) in failures.enumerated() {
      var value = RawBuffer(capacity: 128)
      value.append(varint: failure.sequence)
      Array(failure.what.utf8).withUnsafeBytes { value.append($0) }
      wanted[StateDirectory.key(.failure, UInt32(index))] = Array(value.bytes)
    }
    if failureCount > 0 {
      var value = RawBuffer(capacity: 16)
      value.append(varint: UInt64(failureCount))
      wanted[StateDirectory.key(.failureCount)] = Array(value.bytes)
    }
    for number in pageFiles { wanted[StateDirectory.key(.pageFile, number)] = [] }
    var gone: [[UInt8]] = []
    directory.forEach(in: 0..<directory.count) { key, _ in
      if wanted[Array(key)] == nil { gone.append(Array(key)) }
    }
    for key in gone { key.withUnsafeBytes { _ = directory.remove($0) } }
    for (key, value) in wanted {
      key.withUnsafeBytes { key in value.withUnsafeBytes { value in _ = directory.set(key, value) } }
    }
  }
}

// MARK: Reading

extension StateEntries {
  init(_ directory: Tree) throws(PageDamage) {
    var damage: PageDamage?
    directory.forEach(in: 0..<directory.count) { key, value in
      guard damage == nil, let (kind, number) = StateDirectory.parsed(key) else {
        return damage = damage ?? PageDamage("the directory has an unknown key")
      }
      // An empty value has no address.
      let isRead = value.baseAddress.map { add(kind, number, ByteCursor($0, count: value.count)) }
      if isRead ?? (kind == .pageFile && add(kind, number, nil)) { return }
      damage = PageDamage("an entry of the directory cannot be read")
    }
    if let damage { throw damage }
    guard failures.count == min(failureCount, ProjectionFailures.listedCountMax) else {
      throw PageDamage("the directory lacks failures")
    }
  }

  private mutating func add(_ kind: StateDirectory.Kind, _ number: UInt32, _ cursor: ByteCursor?) -> Bool {
    if kind == .pageFile {
      pageFiles.insert(number)
      return cursor.map { $0.remaining == 0 } ?? true
    }
    guard var cursor else { return false }
    switch kind {
    case .pageFile: return true
    case .table:
      guard number == UInt32(tables.count), let name = cursor.text(),
        let rows = StateTree(&cursor), let problems = StateTree(&cursor)
      else { return false }
      tables.append(Table(name: name, rows: rows, problems: problems))
    case .view:
      guard number == UInt32(views.count), let view = View(&cursor), view.table < UInt32(tables.count) else {
        return false
      }
      views.append(view)
    case .failure:
      guard number == UInt32(failures.count), let sequence = cursor.varint(),
        let bytes = cursor.bytes(UInt64(cursor.remaining)),
        let what = String(validating: bytes, as: UTF8.self)
      else { return false }
      failures.append(ProjectionFailures.Failure(sequence: sequence, what: what))
    case .failureCount:
      guard let count = cursor.varint().flatMap(Int.init(exactly:)) else { return false }
      failureCount = count
    }
    return cursor.remaining == 0
  }
}

extension StateEntries.View {
  /// Table, name, identity, fingerprint, sequence, the rows, the trees that there are, each after its kind, and how many
  /// processes did not ask for the view, if any. Lists begin with their length.
  fileprivate func append(to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(table))
    bytes.append(text: kept.name)
    bytes.append(text: kept.identity)
    bytes.append(integer: kept.fingerprint)
    bytes.append(varint: sequence)
    roots.rows.append(to: &bytes)
    bytes.append(varint: UInt64(roots.view.count))
    for kind in ViewTrees.Kind.allCases {
      guard let root = roots.view[kind] else { continue }
      bytes.append(byte: UInt8(kind.rawValue))
      root.append(to: &bytes)
    }
    if unaskedCount > 0 { bytes.append(varint: unaskedCount) }
  }

  fileprivate init?(_ cursor: inout ByteCursor) {
    guard let table = cursor.varint().flatMap(UInt32.init(exactly:)), let name = cursor.text(),
      let identity = cursor.text(), let fingerprint = cursor.integer(UInt64.self),
      let sequence = cursor.varint(), let rows = StateTree(&cursor), let count = cursor.varint(),
      count <= UInt64(ViewTrees.Kind.allCases.count)
    else { return nil }
    self.table = table
    kept = KeptView(name: name, identity: identity, fingerprint: fingerprint)
    roots = ViewOnDisk.Roots(rows: rows)
    self.sequence = sequence
    for _ in 0..<count {
      guard let kind = cursor.integer(UInt8.self).flatMap({ ViewTrees.Kind(rawValue: Int($0)) }),
        let tree = StateTree(&cursor)
      else { return nil }
      roots.view[kind] = tree
    }
    guard cursor.remaining > 0 else { return }
    guard let unasked = cursor.varint() else { return nil }
    unaskedCount = unasked
  }
}

extension RawBuffer {
  /// Appends a text after its length.
  fileprivate mutating func append(text: String) {
    append(varint: UInt64(text.utf8.count))
    Array(text.utf8).withUnsafeBytes { append($0) }
  }
}

extension ByteCursor {
  /// Reads a text after its length; nil if it is not UTF-8.
  fileprivate mutating func text() -> String? {
    lengthPrefixed().flatMap { String(validating: $0, as: UTF8.self) }
  }
}
