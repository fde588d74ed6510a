// Makes the keys of an owner from the rows of a run.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Gathers when each key of an owner was there, from rows in any order. Belongs to one thread at a time.
///
/// In memory are the keys since the last part, with as many moments as they have: with a scratch file, a part is sorted
/// and written there when it is as long as a limit, and in the end the parts are merged.
final class KeyMaking {
  /// What one version of a row is to the owner.
  private struct Standing {
    var kind: KeyOwner.Kind?
    var placed = PlacedKey()

    /// Whether the list reports the row.
    var isReported: Bool { kind == .unplaced || kind == .items && placed.remark != nil }
  }

  let owner: KeyOwner
  private let isBase: Bool
  private let begin: UInt64
  /// The keys of each kind, by the kind's number; nil for a kind that the owner has not, and once they are written.
  @exclusivity(unchecked) private var gathered: [UnsortedKeys?]
  private let parts: KeyParts?
  private let byteCountMax: Int
  // One thread at a time uses it, so the checks of exclusive access are left out of what each key changes.
  @exclusivity(unchecked) private var keyWriter = SortKeyWriter()
  /// The row's versions so far.
  @exclusivity(unchecked) private var key: [UInt8] = []
  @exclusivity(unchecked) private var now = Standing()
  @exclusivity(unchecked) private var next = Standing()
  /// The kinds that are not written, and the writer of the first of them.
  private var kinds: ArraySlice<KeyOwner.Kind>
  @exclusivity(unchecked) private var writer: KeySetWriter?
  @exclusivity(unchecked) private var record = KeyRecord()
  private var keys: OwnerKeys
  /// The runs that have the keys at the begin, if those are compared; and the current kind of them.
  private let runsBefore: ArraySlice<RunReader>?
  private var keysBefore: KeysBefore?

  /// - Parameters:
  ///   - runs: those that hold the state at the begin; not used for a base.
  ///   - parts: where keys are put that do not fit in memory; nil to keep them all in memory.
  ///   - byteCountMax: how long a part is in memory.
  init(
    _ owner: KeyOwner, begin: UInt64, isBase: Bool, after runs: ArraySlice<RunReader>,
    parts: KeyParts? = nil, byteCountMax: Int = .max
  ) {
    (self.owner, self.begin, self.isBase) = (owner, begin, isBase)
    runsBefore = owner.isMadeByProgram && !isBase ? runs : nil
    (self.parts, self.byteCountMax) = (parts, byteCountMax)
    kinds = owner.kinds[...]
    keys = OwnerKeys(owner: owner.number)
    gathered = [UnsortedKeys?](repeating: nil, count: KeyOwner.Kind.count)
    for kind in owner.kinds { gathered[Int(kind.rawValue)] = UnsortedKeys() }
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

  /// Makes room in memory once the keys take more than the limit.
  func spillIfLong() throws(StoreError) {
    guard let parts, gathered.reduce(0, { $0 + ($1?.byteCount ?? 0) }) >= byteCountMax else { return }
    for keys in gathered { try keys?.spill(to: parts) }
  }

  /// Whether the row has the same key of a kind in both of its versions.
  private func isSame(_ kind: KeyOwner.Kind) -> Bool {
    guard now.kind == next.kind else { return false }
    guard now.kind == .items else { return true }
    guard kind == .values else { return now.placed.bytes == next.placed.bytes }
    return now.placed.value == next.placed.value && now.placed.sectionLength == next.placed.sectionLength
      && now.placed.bytes.withUnsafeBytes { old in
        next.placed.bytes.withUnsafeBytes { new in
          UnsafeRawBufferPointer(rebasing: old[..<now.placed.sectionLength]).hasSameBytes(
            as: UnsafeRawBufferPointer(rebasing: new[..<next.placed.sectionLength]))
        }
      }
  }

  /// Notes the keys of a version that the row's other version lacks.
  private func note(
    _ standing: Standing, at sequence: UInt64, isBirth: Bool, isFirst: Bool = false
  ) {
    guard let kind = standing.kind else { return }
    let idLength = key.count - RunKey.tableLength
    if standing.isReported, isFirst || !(now.isReported && next.isReported) {
      key.withUnsafeBytes {
        gathered[Int(KeyOwner.Kind.unplaced.rawValue)]?.append(
          RunKey.id($0), 0, idLength, sequence, isBirth: isBirth)
      }
    }
    if kind != .unplaced, isFirst || !isSame(kind) {
      let keys = gathered[Int(kind.rawValue)]
      switch kind {
      case .items:
        standing.placed.bytes.withUnsafeBytes { bytes in
          keys?.append(
            bytes, standing.placed.sectionLength, standing.placed.idLength, sequence, isBirth: isBirth)
        }
      case .rows, .refused, .values, .unplaced:
        key.withUnsafeBytes { keys?.append($0, RunKey.tableLength, idLength, sequence, isBirth: isBirth) }
      }
    }
    guard kind == .items, let values = gathered[Int(KeyOwner.Kind.values.rawValue)],
      isFirst || !isSame(.values)
    else { return }
    let (sectionLength, itemLength) = (standing.placed.sectionLength, standing.placed.idLength)
    let value = standing.placed.bytes.withUnsafeBytes { bytes in
      View.valueKey(
        in: UnsafeRawBufferPointer(rebasing: bytes[..<sectionLength]),
        UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - itemLength)...]), standing.placed.value)
    }
    value.withUnsafeBytes { values.append($0, sectionLength, itemLength, sequence, isBirth: isBirth) }
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
      standing.placed.place(row, by: definition, &keyWriter)
    }
    if standing.placed.isShown { standing.kind = .items }
    if standing.placed.problem != nil { standing.kind = .unplaced }
  }

  /// Writes some of the keys, after all rows were added. Returns all of them once they are written. A key that the
  /// program's code makes, and that was there at the begin, is looked for in each run before.
  func write(_ count: Int, to output: RunOutput, _ limits: RunLimits) throws(RunFailure) -> OwnerKeys? {
    for _ in 0..<count {
      guard let kind = kinds.first else { return keys }
      do throws(StoreError) {
        if writer == nil { try begin(kind, output, limits) }
        guard try gathered[Int(kind.rawValue)]?.next(&record, after: begin) == true else {
          try end(kind)
          continue
        }
      } catch { throw RunFailure(error) }
      guard try RunFailure.reading({ () throws(PageDamage) in try wasThere(kind, limits) }) else {
        throw .otherKeys(owner)
      }
      do throws(StoreError) { try writer?.add(record) } catch { throw RunFailure(error) }
    }
    return nil
  }

  private func begin(_ kind: KeyOwner.Kind, _ output: RunOutput, _ limits: RunLimits) throws(StoreError) {
    try gathered[Int(kind.rawValue)]?.end(parts)
    writer = KeySetWriter(output, kind, begin: begin, isBase: isBase, limits)
    keysBefore = nil
  }

  private func end(_ kind: KeyOwner.Kind) throws(StoreError) {
    guard var ended = writer.take() else { return }
    keys.sets.append(try ended.finish())
    gathered[Int(kind.rawValue)] = nil
    kinds.removeFirst()
  }

  /// Whether the key was there at the begin, if the run says so.
  private func wasThere(_ kind: KeyOwner.Kind, _ limits: RunLimits) throws(PageDamage) -> Bool {
    guard record.isAlive, let runsBefore else { return true }
    if let keysBefore { return try keysBefore.has(record.key) }
    let known = try KeysBefore(runsBefore, kind, of: owner, limits)
    keysBefore = known
    return try known.has(record.key)
  }
}
