// Makes the keys of an owner from the rows of a run.

internal import StrataBase
internal import StrataLog

/// Gathers when each key of an owner was there, from rows in any order. Belongs to one thread at a time. In memory are all
/// keys, with as many moments as they have.
final class KeyMaking {
  /// What one version of a row is to the owner.
  private struct Standing {
    var kind: KeyOwner.Kind?
    var placed = PlacedKey()
  }

  let owner: KeyOwner
  private let isBase: Bool
  private let begin: UInt64
  private var gathered: [KeyOwner.Kind: GatheredKeys] = [:]
  private var writer = SortKeyWriter()
  /// The row's versions so far.
  private var key: [UInt8] = []
  private var now = Standing()
  private var next = Standing()

  init(_ owner: KeyOwner, begin: UInt64, isBase: Bool) {
    (self.owner, self.begin, self.isBase) = (owner, begin, isBase)
    for kind in owner.kinds { gathered[kind] = GatheredKeys() }
  }

  /// Begins a row.
  ///
  /// - Parameters:
  ///   - table: the name of its table.
  ///   - version: what it was at the run's begin; nil if it never existed by then.
  func begin(
    _ key: UnsafeRawBufferPointer, of table: String, _ version: RunVersion?, _ bytes: UnsafeRawBufferPointer
  ) {
    self.key.removeAll(keepingCapacity: true)
    guard owner.list.map({ $0.table.utf8.elementsEqual(table.utf8) }) ?? true else { return }
    self.key.append(contentsOf: key)
    now.kind = nil
    if let version {
      place(version, bytes, &now)
      // A delta has the keys that an event in it changed.
      if isBase { note(now, at: begin, isBirth: true, isFirst: true) }
    }
  }

  /// Adds the next version of the row.
  func add(_ version: RunVersion, _ bytes: UnsafeRawBufferPointer) {
    guard !key.isEmpty else { return }
    place(version, bytes, &next)
    note(now, at: version.sequence, isBirth: false)
    note(next, at: version.sequence, isBirth: true)
    swap(&now, &next)
  }

  /// Whether the row has the same key of a kind in both of its versions.
  private func isSame(_ kind: KeyOwner.Kind) -> Bool {
    guard now.kind == next.kind else { return false }
    guard now.kind == .items else { return true }
    let (old, new) = (now.placed, next.placed)
    guard kind == .values else { return old.bytes == new.bytes }
    return old.value == new.value
      && old.bytes[..<old.sectionLength] == new.bytes[..<new.sectionLength]
  }

  /// Notes the keys of a version that the row's other version lacks.
  private func note(_ standing: Standing, at sequence: UInt64, isBirth: Bool, isFirst: Bool = false) {
    guard let kind = standing.kind else { return }
    let idLength = key.count - RunKey.tableLength
    if isFirst || !isSame(kind) {
      switch kind {
      case .items:
        let placed = standing.placed
        gathered[.items]?.append(
          placed.bytes, placed.sectionLength, placed.idLength, sequence, isBirth: isBirth)
      case .unplaced:
        gathered[kind]?.append(key[RunKey.tableLength...], 0, idLength, sequence, isBirth: isBirth)
      case .rows, .refused, .values:
        gathered[kind]?.append(key, RunKey.tableLength, idLength, sequence, isBirth: isBirth)
      }
    }
    if kind == .items, let values = gathered[.values], isFirst || !isSame(.values) {
      let placed = standing.placed
      let value = placed.bytes.withUnsafeBytes { bytes in
        View.valueKey(
          in: UnsafeRawBufferPointer(rebasing: bytes[..<placed.sectionLength]),
          UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - placed.idLength)...]), placed.value)
      }
      values.append(value, placed.sectionLength, placed.idLength, sequence, isBirth: isBirth)
    }
  }

  private func place(_ version: RunVersion, _ bytes: UnsafeRawBufferPointer, _ standing: inout Standing) {
    guard let definition = owner.list?.definition else {
      standing.kind = version.kind == .document ? .rows : version.kind == .problem ? .refused : nil
      return
    }
    standing.kind = nil
    guard version.kind == .document else { return }
    key.withUnsafeBytes { key in
      let row = RowView(
        id: RunKey.id(key), revision: version.sequence, created: version.created, time: version.time,
        document: bytes)
      standing.placed.place(row, by: definition, &writer)
    }
    if standing.placed.isShown { standing.kind = .items }
    if standing.placed.problem != nil { standing.kind = .unplaced }
  }

  /// Writes the keys of all rows.
  func write(to output: RunOutput, _ limits: RunLimits) throws(StoreError) -> OwnerKeys {
    var keys = OwnerKeys(owner: owner.number)
    for kind in owner.kinds {
      var writer = KeySetWriter(output, kind, begin: begin, isBase: isBase, limits)
      if let gathered = gathered.removeValue(forKey: kind) {
        try gathered.forEachRecord(after: begin) { record throws(StoreError) in try writer.add(record) }
      }
      keys.sets.append(try writer.finish())
    }
    return keys
  }
}

/// Keys with one moment each, in any order. A class, so that the dictionary of them does not copy.
private final class GatheredKeys {
  private struct Entry {
    var offset: Int
    var length: UInt16
    var sectionLength: UInt16
    var idLength: UInt16
    var sequence: UInt64
    var isBirth: Bool
  }

  private var bytes = RawBuffer(capacity: 1 << 12)
  private var entries: [Entry] = []

  func append(
    _ key: some Collection<UInt8>, _ sectionLength: Int, _ idLength: Int, _ sequence: UInt64,
    isBirth: Bool
  ) {
    entries.append(
      Entry(
        offset: bytes.count, length: UInt16(truncatingIfNeeded: key.count),
        sectionLength: UInt16(truncatingIfNeeded: sectionLength),
        idLength: UInt16(truncatingIfNeeded: idLength), sequence: sequence, isBirth: isBirth))
    _ = key.withContiguousStorageIfAvailable { bytes.append(UnsafeRawBufferPointer($0)) }
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + entry.offset, count: Int(entry.length))
  }

  /// Lends the keys in ascending order, each once with its moments. What a base notes at its begin was there.
  func forEachRecord(
    after begin: UInt64, _ body: (KeyRecord) throws(StoreError) -> Void
  ) throws(StoreError) {
    entries.sort { a, b in
      let order = key(a).order(key(b))
      return order != 0 ? order < 0 : a.sequence < b.sequence
    }
    var record = KeyRecord()
    var start = 0
    while start < entries.count {
      let first = entries[start]
      var end = start + 1
      while end < entries.count, key(entries[end]).hasSameBytes(as: key(first)) { end += 1 }
      record.key.removeAll(keepingCapacity: true)
      record.key.append(contentsOf: key(first))
      (record.sectionLength, record.idLength) = (Int(first.sectionLength), Int(first.idLength))
      record.moments.removeAll(keepingCapacity: true)
      for entry in entries[start..<end] where entry.sequence > begin { record.moments.append(entry.sequence) }
      record.isAlive = first.sequence == begin || !first.isBirth
      try body(record)
      start = end
    }
  }
}
