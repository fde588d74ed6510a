// Where the keys and values of one object lie, sorted so that a key is found fast.

/// A key and its value.
struct MapEntry {
  /// Where the key's UTF-8 begins: in the input, or (counted −1, −2, …) in the index's own keys.
  var keyStart: Int
  var keyCount: Int
  /// The offset of the value.
  var value: Int
}

struct MapIndexHeader {
  var count: Int
  /// Where the last search ended: types ask for a key up to three times in a row.
  var hint: Int
  /// The keys that the input holds in chunks, put together.
  var joinedKeys: [UInt8]
}

/// The entries of one object in ascending order of (length, bytes) of their keys, in one allocation.
final class MapIndex: ManagedBuffer<MapIndexHeader, MapEntry> {
  /// Reads the map at an offset. Throws where it is none, or has a key that is not text or occurs twice.
  static func read(_ state: DecodingState, at offset: Int) throws -> MapIndex {
    var reader = state.reader(at: offset)
    do {
      var head = try reader.readHead()
      while case .tag = head { head = try reader.readHead() }
      guard case .map(let announced) = head else {
        throw state.mismatch(head, [String: Any].self, at: offset)
      }
      let count = try announced ?? countPairs(reader)
      let index = unsafeDowncast(
        create(minimumCapacity: count) { _ in MapIndexHeader(count: 0, hint: 0, joinedKeys: []) },
        to: MapIndex.self)
      try index.fill(&reader, count: count, state)
      return index
    } catch let error as CodecError {
      throw state.corrupted(error, path: state.path(to: offset))
    }
  }

  private static func countPairs(_ reader: CBORReader) throws(CodecError) -> Int {
    var reader = reader
    var count = 0
    while !(try reader.readBreak()) {
      try reader.skip()
      try reader.skip()
      count += 1
    }
    return count
  }

  private func fill(_ reader: inout CBORReader, count: Int, _ state: DecodingState) throws(CodecError) {
    var isAscending = true
    for position in 0..<count {
      let start = reader.offset
      let entry: MapEntry
      switch try reader.readHead() {
      case .text(let count?):
        entry = MapEntry(keyStart: reader.offset, keyCount: count, value: reader.offset + count)
      case .text(nil):
        let key = try reader.readText(count: nil, at: start)
        entry = MapEntry(
          keyStart: -1 - header.joinedKeys.count, keyCount: key.utf8.count, value: reader.offset)
        header.joinedKeys += key.utf8
      case let head: throw CodecError(.notRepresentable(head.kind), at: start)
      }
      reader.offset = entry.value
      try reader.skip()
      withUnsafeMutablePointerToElements { ($0 + position).initialize(to: entry) }
      header.count = position + 1
      if position > 0, isAscending { isAscending = order(position - 1, position, state) < 0 }
    }
    if !isAscending { try sort(state) }
  }

  private func sort(_ state: DecodingState) throws(CodecError) {
    withUnsafeMutablePointerToElements { entries in
      var buffer = UnsafeMutableBufferPointer(start: entries, count: header.count)
      buffer.sort { first, second in
        withKey(first, state) { a in withKey(second, state) { b in Self.order(a, b) < 0 } }
      }
    }
    for position in 1..<max(1, header.count) where order(position - 1, position, state) == 0 {
      let key = keyText(position, state)
      let offset = max(entry(position - 1).value, entry(position).value)
      throw CodecError(.duplicateKey(key), at: offset)
    }
  }
}

extension MapIndex {
  var count: Int { header.count }

  /// The text of a key.
  func keyText(_ position: Int, _ state: DecodingState) -> String {
    withKey(entry(position), state) { String(decoding: $0, as: UTF8.self) }
  }

  /// The offset of a key's value, nil where there is no such key. O(log count).
  func value(of key: String, _ state: DecodingState) -> Int? {
    guard !state.bytes.isEmpty else { return nil }
    return key.withUTF8Bytes { find($0, state) }
  }

  private func find(_ key: UnsafeBufferPointer<UInt8>, _ state: DecodingState) -> Int? {
    withUnsafeMutablePointers { header, entries in
      let count = header.pointee.count
      var position = header.pointee.hint
      for _ in 0..<min(count, CodecLimits.linearSearchCountMax) {
        if position == count { position = 0 }
        let entry = entries[position]
        if entry.keyCount == key.count, withKey(entry, state, { compareBytes($0, key) == 0 }) {
          header.pointee.hint = position
          return entry.value
        }
        position &+= 1
      }
      if count <= CodecLimits.linearSearchCountMax { return nil }
      var low = 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        let order = withKey(entries[middle], state) { Self.order($0, key) }
        if order == 0 {
          header.pointee.hint = middle
          return entries[middle].value
        }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return nil
    }
  }

  private func entry(_ position: Int) -> MapEntry { withUnsafeMutablePointerToElements { $0[position] } }

  private func order(_ a: Int, _ b: Int, _ state: DecodingState) -> Int {
    withKey(entry(a), state) { a in withKey(entry(b), state) { b in Self.order(a, b) } }
  }

  /// The order of deterministic encodings: the shorter key first.
  @inline(__always)
  private static func order(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    a.count != b.count ? a.count - b.count : compareBytes(a, b)
  }

  @inline(__always)
  private func withKey<Result>(
    _ entry: MapEntry,
    _ state: DecodingState,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if entry.keyStart >= 0, let base = state.bytes.baseAddress {
      let start = (base + entry.keyStart).assumingMemoryBound(to: UInt8.self)
      return body(UnsafeBufferPointer(start: start, count: entry.keyCount))
    }
    return header.joinedKeys.withUnsafeBufferPointer { joined in
      let start = -1 - entry.keyStart
      guard start >= 0 else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
      return body(UnsafeBufferPointer(rebasing: joined[start..<start + entry.keyCount]))
    }
  }
}
