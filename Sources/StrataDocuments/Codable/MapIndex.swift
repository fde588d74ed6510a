// An index of the keys and values of one object, sorted for fast lookup.

/// A key and the offset of its value.
struct MapEntry {
  /// The key's UTF-8 bytes, which are in the input or in the index's `joinedKeys`.
  var key: UnsafeBufferPointer<UInt8>
  /// The offset of the value.
  var value: Int
}

/// The entries of one object, in ascending order of (length, bytes) of their keys. Used by one thread only.
final class MapIndex {
  unowned(unsafe) let state: DecodingState
  /// The same, for `withState`.
  private let unretained: Unmanaged<DecodingState>
  /// The state, unless the state keeps this index.
  @exclusivity(unchecked) var owner: DecodingState?
  /// The offset of the object.
  @exclusivity(unchecked) private(set) var offset = 0
  @exclusivity(unchecked) private(set) var count = 0
  /// The keys of cases that the container asked for.
  @exclusivity(unchecked) private var caseKeys: CaseKeys?
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<MapEntry>
  @exclusivity(unchecked) private var capacity = 4
  /// The position at which the last search ended. Types look up the same key up to three times in a row.
  @exclusivity(unchecked) private var hint = 0
  /// Copies of those keys that are in chunks in the input.
  @exclusivity(unchecked) private var joinedKeys: [UnsafeMutableBufferPointer<UInt8>] = []

  init(_ state: DecodingState) {
    self.state = state
    unretained = .passUnretained(state)
    owner = state
    entries = .allocate(capacity: capacity)
  }

  deinit {
    entries.deallocate()
    for key in joinedKeys { key.deallocate() }
  }

  /// Calls the body with the state, without counting the reference: to do so at each field takes as long as to read a
  /// number. The reference is safe: every caller holds the container that keeps this index, or the state.
  @inline(__always)
  func withState<Result>(_ body: (DecodingState) throws -> Result) rethrows -> Result {
    try unretained._withUnsafeGuaranteedRef(body)
  }

  /// Reads the map at an offset. Throws if the item is not a map, or if a key is not text or occurs twice.
  func read(at offset: Int) throws {
    (self.offset, count, hint) = (offset, 0, 0)
    if !joinedKeys.isEmpty {
      for key in joinedKeys { key.deallocate() }
      joinedKeys = []
    }
    if offset == ItemDecoder.ofCase {
      guard let caseName = state.caseName else { return }
      entries.initialize(to: MapEntry(key: caseName, value: 0))
      count = 1
      return
    }
    var reader = state.reader(at: offset)
    do {
      var head = try reader.readHead()
      while case .tag = head { head = try reader.readHead() }
      guard case .map(let announced) = head else {
        throw state.mismatch(head, [String: Any].self, at: offset)
      }
      let pairs = try announced ?? Self.countPairs(reader)
      // Memory for a very large object is not kept.
      if pairs > capacity || capacity > 256 {
        entries.deallocate()
        capacity = max(4, pairs)
        entries = .allocate(capacity: capacity)
      }
      try fill(&reader, pairs)
      count = pairs
      if announced == nil { _ = try reader.readBreak() }
      if offset == 0, !state.isChecked { try state.checkIsEnd(reader.offset) }
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

  private func fill(_ reader: inout CBORReader, _ count: Int) throws(CodecError) {
    var isAscending = true
    let depth = state.outerDepth &+ 1
    for position in 0..<count {
      let key = try readKey(&reader)
      (entries + position).initialize(to: MapEntry(key: key, value: reader.offset))
      try reader.skip(depth: depth)
      if position > 0, isAscending { isAscending = Self.order(entries[position - 1].key, key) < 0 }
    }
    if !isAscending { try sort(count) }
  }

  @inline(__always)
  private func readKey(_ reader: inout CBORReader) throws(CodecError) -> UnsafeBufferPointer<UInt8> {
    let start = reader.offset
    // Almost every key is shorter than 24 bytes.
    if let initial = reader.nextByte, initial &- CBORMajor.text < 24 {
      reader.offset &+= 1
      return try reader.readRaw(count: Int(initial &- CBORMajor.text)).assumingMemoryBound(to: UInt8.self)
    }
    switch try reader.readHead() {
    case .text(let count?):
      return try reader.readRaw(count: count).assumingMemoryBound(to: UInt8.self)
    case .text(nil):
      let text = try reader.readText(count: nil, at: start)
      let key = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
      _ = key.initialize(from: text.utf8)
      joinedKeys.append(key)
      return UnsafeBufferPointer(key)
    case let head: throw CodecError(.notRepresentable(head.kind), at: start)
    }
  }

  private func sort(_ count: Int) throws(CodecError) {
    var buffer = UnsafeMutableBufferPointer(start: entries, count: count)
    buffer.sort { Self.order($0.key, $1.key) < 0 }
    for position in 1..<max(1, count) where Self.order(entries[position - 1].key, entries[position].key) == 0
    {
      let offset = max(entries[position - 1].value, entries[position].value)
      throw CodecError(.duplicateKey(String(decoding: entries[position].key, as: UTF8.self)), at: offset)
    }
  }

  /// Compares keys in the order of deterministic encodings: by length, then by bytes.
  @inline(__always)
  private static func order(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    a.count != b.count ? a.count - b.count : compareBytes(a, b)
  }
}

extension MapIndex {
  /// The keys; empty after the decoder's call has returned.
  var keys: [String] {
    guard state.isOpen else { return [] }
    return (0..<count).map { String(decoding: entries[$0].key, as: UTF8.self) }
  }

  /// The keys of a case, of the type of keys that the index was made for.
  func keys<Key: CodingKey>(ofCase name: UnsafeBufferPointer<UInt8>) -> [Key] {
    let keys = caseKeys ?? CaseKeys()
    caseKeys = keys
    return keys.keys(name)
  }

  /// The name of the case if this is the map around the associated values of an enum.
  var caseName: UnsafeBufferPointer<UInt8>? {
    offset == ItemDecoder.ofCase && state.isOpen ? state.caseName : nil
  }

  /// The offset of a key's value; nil if there is no such key. O(log count).
  func value(of key: String) -> Int? {
    guard state.isOpen else { return nil }
    return key.withUTF8Bytes { find($0) }
  }

  @inline(__always)
  private func find(_ key: UnsafeBufferPointer<UInt8>) -> Int? {
    var position = hint
    for _ in 0..<min(count, CodecLimits.linearSearchCountMax) {
      if position == count { position = 0 }
      if entries[position].key.count == key.count, compareBytes(entries[position].key, key) == 0 {
        hint = position
        return entries[position].value
      }
      position &+= 1
    }
    return count <= CodecLimits.linearSearchCountMax ? nil : findByHalves(key)
  }

  private func findByHalves(_ key: UnsafeBufferPointer<UInt8>) -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      let order = Self.order(entries[middle].key, key)
      if order == 0 {
        hint = middle
        return entries[middle].value
      }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }
}
