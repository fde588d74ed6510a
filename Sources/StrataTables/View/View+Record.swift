// Where a view has a row: the position that the view recorded, not the one that the request's functions compute now.

internal import StrataBase

// When a row changes, its previous key is computed again, since the view does not store keys by id. That is correct as
// long as the functions are pure. If the program's code makes keys, the computed key is looked up in the items. If it
// is not there, a function read something other than the row, such as a clock. The view then collects the keys of all
// its items by id, once, and keeps them up to date from then on.
//
// A row that the functions now leave out has no key to look up. If only the row's bytes decide what is left out, the
// row was left out before as well, or had a problem, which was recorded. If the program's code decides, the view marks
// the rows that it shows by the hashes of their ids: eight bytes each.

/// Identifies a lineage of states: in lineages that were built separately, the program's code ran at different times.
package final class ViewBuild: Sendable {}

/// The recorded position of a row, as bytes: the lengths of section and key as two little-endian bytes each, the key,
/// then the value if sections are ordered by values.
private enum ItemRecord {
  static func bytes(_ item: ItemKey) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + item.bytes.count)
    append(section: item.sectionLength, key: item.bytes.count, to: &bytes)
    bytes.append(contentsOf: item.bytes)
    return bytes
  }

  static func bytes(_ key: PlacedKey, holdsValue: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + key.bytes.count)
    append(section: key.sectionLength, key: key.bytes.count, to: &bytes)
    bytes.append(contentsOf: key.bytes)
    if holdsValue { bytes.append(contentsOf: key.value) }
    return bytes
  }

  static func key(_ bytes: UnsafeRawBufferPointer, idLength: Int) -> PlacedKey {
    let section = Int(UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)))
    let end = 4 + Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
    return PlacedKey(
      of: Array(bytes[4..<end]), sectionLength: section, idLength: idLength, value: Array(bytes[end...]))
  }

  private static func append(section: Int, key: Int, to bytes: inout [UInt8]) {
    for length in [section, key] {
      withUnsafeBytes(of: UInt16(length).littleEndian) { bytes.append(contentsOf: $0) }
    }
  }
}

// MARK: Changing

extension View {
  /// Moves a row from its recorded position to another, and records a drift if the computed previous key was different.
  mutating func changeRecorded(id: UnsafeRawBufferPointer, from made: PlacedKey, to new: PlacedKey) {
    var old = made
    var drift: String?
    if made.isOfRow, !has(made, of: id) {
      keepKeys()
      old = recordedKey(of: id)
      drift = Self.drift(from: old, to: made)
    }
    move(id: id, from: old, to: new)
    if keys != nil {
      record(new, of: id)
    } else if old.isShown != new.isShown {
      if new.isShown { mark(id) } else { unmark(id) }
    }
    if new.report != nil || !problems.isEmpty { note(new.report, for: id) }
    if !new.isOfRow || new.report != nil {
      if !drifts.isEmpty { drifts.remove(id) }
    } else if var drift {
      drift.withUTF8 { text in _ = drifts.set(id, UnsafeRawBufferPointer(text)) }
    }
  }

  /// Begins a new lineage of states: the program's code may place rows in it elsewhere than in the previous lineage.
  mutating func beginLine() {
    if build != nil { build = ViewBuild() }
  }

  /// Whether the view has a row exactly where a key says.
  private func has(_ key: PlacedKey, of id: UnsafeRawBufferPointer) -> Bool {
    guard key.isShown else { return !mayShow(id, leftOut: key) }
    return key.bytes.withUnsafeBytes { bytes in
      guard items.contains(bytes) else { return false }
      guard definition.holdsValues else { return true }
      let section = UnsafeRawBufferPointer(rebasing: bytes[..<key.sectionLength])
      return Self.valueKey(in: section, id, key.value).withUnsafeBytes { values.contains($0) }
    }
  }

  private static func drift(from recorded: PlacedKey, to made: PlacedKey) -> String? {
    let what: String
    switch (recorded.isShown, made.isShown) {
    case (true, true): what = "its key changed although the row did not"
    case (true, false): what = "it is now left out although the row did not change"
    case (false, true): what = "it is now shown although the row did not change"
    case (false, false): return nil
    }
    return
      "\(what): what a request reads of a row must depend on the row alone, and not on a clock or a setting"
  }

  private mutating func record(_ key: PlacedKey, of id: UnsafeRawBufferPointer) {
    guard key.isShown else {
      _ = keys?.remove(id)
      return
    }
    ItemRecord.bytes(key, holdsValue: definition.holdsValues).withUnsafeBytes { _ = keys?.set(id, $0) }
  }

  /// Ensures that the view has the keys of its items by their ids. O(n log n) the first time.
  private mutating func keepKeys() {
    guard keys == nil else { return }
    var keys = keysOfItems()
    if definition.holdsValues {
      values.forEach(in: 0..<values.count) { key, lengths in
        let item = ItemKey(key, lengths)
        guard var record = keys.withValue(of: item.id, { $0.map { Array($0) } }) else { return }
        record.append(contentsOf: item.sortKeys)
        record.withUnsafeBytes { _ = keys.set(item.id, $0) }
      }
    }
    assert(keys.count == items.count, "two items of a view belong to one row")
    self.keys = keys
    marks = Tree(pageSize: TreePages.view)
  }

  private func keysOfItems() -> Tree {
    var keys = Tree(pageSize: TreePages.view)
    items.forEach(in: 0..<items.count) { key, lengths in
      let item = ItemKey(key, lengths)
      ItemRecord.bytes(item).withUnsafeBytes { _ = keys.set(item.id, $0) }
    }
    return keys
  }
}

// MARK: Reading

extension View {
  /// Where the view has a row. O(log n), plus the computation of its key. If the view has the row under another key,
  /// O(n log n) once for the view, and O(log n) after that.
  package func key(of row: RowView) -> PlacedKey {
    var key = PlacedKey()
    var writer = SortKeyWriter()
    key.place(row, by: definition, &writer)
    let exists =
      definition.calls == .none
      || (key.isShown ? key.bytes.withUnsafeBytes { contains($0) } : !mayShow(row.id, leftOut: key))
    return exists ? key : recordedKey(of: row.id)
  }

  /// Where the view has a row, whatever the functions of the request return now. O(log n), and O(n log n) once for a
  /// view that does not keep its keys.
  package func recordedKey(of id: UnsafeRawBufferPointer) -> PlacedKey {
    let keys = keys ?? lookedUpKeys()
    return keys.withValue(of: id) { $0.map { ItemRecord.key($0, idLength: id.count) } ?? .hidden }
  }

  /// The keys of the items by their ids, computed for a view that does not keep them.
  private func lookedUpKeys() -> Tree {
    let known = definition.lookup.withLock { $0 }
    if let known, known.items.isIdentical(to: items) { return known.keys }
    let keys = keysOfItems()
    definition.lookup.withLock { $0 = (items, keys) }
    return keys
  }

  /// Whether the view may show a row although the functions leave it out now. False means that it does not. O(log n).
  package func mayShow(_ id: UnsafeRawBufferPointer, leftOut key: PlacedKey) -> Bool {
    if let keys { return keys.contains(id) }
    switch definition.calls {
    case .none: return false
    case .keys:
      let isLeftOut = problems.withValue(of: id) { $0.map { !RowProblem.isOfShownRow($0) } ?? false }
      return key.problem != nil && !isLeftOut
    case .filters: return isMarked(id)
    }
  }

  /// Whether the program's code may have built another view of the same rows.
  package func isApart(from other: View) -> Bool {
    definition.calls != .none && build !== other.build && !isOfOneHistory(with: other)
  }

  /// Whether both are as a history has them.
  private func isOfOneHistory(with other: View) -> Bool {
    guard let one = past, let two = other.past, one.tree.isIdentical(to: items),
      two.tree.isIdentical(to: other.items)
    else { return false }
    return one.isOfOneHistory(with: two)
  }
}

// MARK: Marks

extension View {
  /// Marks a row that the view shows.
  mutating func mark(_ id: UnsafeRawBufferPointer) {
    guard definition.calls == .filters else { return }
    changeMark(of: id) { $0 + 1 }
  }

  private mutating func unmark(_ id: UnsafeRawBufferPointer) {
    guard definition.calls == .filters else { return }
    changeMark(of: id) { $0 - 1 }
  }

  private func isMarked(_ id: UnsafeRawBufferPointer) -> Bool {
    withUnsafeBytes(of: XXH64.of(id).bigEndian) { marks.contains($0) }
  }

  private mutating func changeMark(of id: UnsafeRawBufferPointer, _ change: (UInt32) -> UInt32) {
    var count: UInt32 = 0
    withUnsafeBytes(of: XXH64.of(id).bigEndian) { hash in
      withUnsafeMutableBytes(of: &count) { bytes in
        _ = marks.set(hash, UnsafeRawBufferPointer(bytes)) { old in
          let known = old.map { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) } ?? 0
          assert(old == nil || known > 0, "a stored mark counts no row")
          let left = change(known)
          bytes.storeBytes(of: left.littleEndian, as: UInt32.self)
          return left > 0
        }
      }
      if count == 0 { marks.remove(hash) }
    }
  }
}
