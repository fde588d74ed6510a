// Keys in their order, as a run writes them: each without what it shares with the one before.

internal import StrataBase
internal import StrataTables

/// Ascending keys one after the other in one piece of memory. Keys that are arrays took most of the time to read them.
struct AscendingKeys: ~Copyable, @unchecked Sendable {
  // Sendable because nobody changes it once it is in a directory.
  private var bytes = RawBuffer(capacity: 1 << 10)
  /// Where each key ends.
  private var ends: [UInt32] = []

  var count: Int { ends.count }

  private subscript(index: Int) -> UnsafeRawBufferPointer {
    @inline(__always) get {
      let start = index > 0 ? Int(ends[index - 1]) : 0
      return UnsafeRawBufferPointer(rebasing: bytes.bytes[start..<Int(ends[index])])
    }
  }

  /// Lends a key.
  @inline(__always)
  func with<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result { body(self[index]) }

  /// Below, equal to or above zero if a key is before, equal to or after another one.
  @inline(__always)
  func order(_ index: Int, _ key: UnsafeRawBufferPointer) -> Int { self[index].order(key) }

  /// The last key that is not after another one; nil if all are.
  ///
  /// - Parameter start: a key that is not after it; nil if none is known. Those near that one are found sooner. O(log
  ///   distance).
  func last(notAfter key: UnsafeRawBufferPointer, from start: Int? = nil) -> Int? {
    guard start != nil || count > 0 && order(0, key) <= 0 else { return nil }
    // The first key after the other one is after `low`, which is not, and not after `high`.
    var (low, high, step) = (start ?? 0, count, 1)
    while low + step < high {
      guard order(low + step, key) > 0 else {
        (low, step) = (low + step, step * 2)
        continue
      }
      high = low + step
    }
    while high - low > 1 {
      let middle = (low + high) / 2
      if order(middle, key) > 0 { high = middle } else { low = middle }
    }
    return low
  }

  /// The first key that is not before another one; the number of keys if all are. O(log keys).
  func first(notBefore key: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if order(middle, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Reading

  /// Reads the next key.
  mutating func append(_ cursor: inout ByteCursor) throws(PageDamage) {
    let start = ends.count > 1 ? Int(ends[ends.count - 2]) : 0
    let last = UnsafeRawBufferPointer(rebasing: bytes.bytes[start...])
    guard let shared = cursor.varint(), shared <= UInt64(last.count), let rest = cursor.lengthPrefixed(),
      ends.isEmpty || Self.follows(last, shared: Int(shared), rest),
      Int(shared) + rest.count <= RunKey.lengthMax,
      let end = UInt32(exactly: bytes.count + Int(shared) + rest.count)
    else { throw Self.damage }
    let target = bytes.reserve(Int(shared) + rest.count)
    target.copyMemory(from: bytes.base + start, byteCount: Int(shared))
    if let base = rest.baseAddress { (target + Int(shared)).copyMemory(from: base, byteCount: rest.count) }
    bytes.count = Int(end)
    ends.append(end)
  }

  /// Reads a key that follows another one, which it replaces.
  static func next(
    _ cursor: inout ByteCursor, _ key: inout [UInt8], isFirst: Bool, lengthMax: Int = RunKey.lengthMax
  ) throws(PageDamage) {
    guard let shared = cursor.varint(), shared <= UInt64(key.count), let rest = cursor.lengthPrefixed(),
      isFirst ? shared == 0 : key.withUnsafeBytes({ follows($0, shared: Int(shared), rest) }),
      Int(shared) + rest.count <= lengthMax
    else { throw damage }
    key.removeLast(key.count - Int(shared))
    key.append(contentsOf: rest)
  }

  /// Whether a key comes after another one. What two keys share is all that they share, so the next byte decides.
  @inline(__always)
  private static func follows(
    _ last: UnsafeRawBufferPointer, shared: Int, _ rest: UnsafeRawBufferPointer
  ) -> Bool {
    !rest.isEmpty && (shared == last.count || rest[0] > last[shared])
  }

  private static var damage: PageDamage { PageDamage("the keys of a run do not ascend") }
}

/// Writes ascending keys, each without what it shares with the one before.
struct AscendingKeysWriter: ~Copyable {
  var bytes = RawBuffer(capacity: 1 << 12)
  private var last: [UInt8] = []

  mutating func append(_ key: [UInt8]) {
    bytes.append(key, after: last)
    last = key
  }

  mutating func removeAll() {
    bytes.removeAll()
    last.removeAll(keepingCapacity: true)
  }
}

extension RawBuffer {
  /// Appends a key without what it shares with the one before, as `AscendingKeys` reads it.
  mutating func append(_ key: [UInt8], after last: [UInt8]) {
    key.withUnsafeBytes { key in
      let shared = last.withUnsafeBytes { ByteRun(key).commonPrefixLength(ByteRun($0)) }
      append(varint: UInt64(shared))
      append(varint: UInt64(key.count - shared))
      append(UnsafeRawBufferPointer(rebasing: key[shared...]))
    }
  }
}
