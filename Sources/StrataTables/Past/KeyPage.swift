// Finds one key in a page of keys, and counts those before it, without putting the keys together.

internal import StrataBase

/// What a run says of one key after an event.
struct KeyCount {
  /// How many of the run's keys that are less are there; in a delta, by how much that differs from the run's begin.
  var count: Int64 = 0
  /// Whether the key is there; nil if the run does not say.
  var isAlive: Bool?
}

/// A page of keys of one run. The page is read up to the key, or to where it would be.
///
/// Each key in a page is written without what it shares with the one before. So of every key that is passed only this
/// length is compared with what the one before shares with the key that is looked for: less of it, and the key is past
/// that one; more, and it is still before it.
struct KeyPage {
  private let page: RunRecord
  private let root: RunRoot
  private let (directory, index): (KeyDirectory, Int)

  init(_ keys: KeySet, at index: Int) throws(StatePage.Damage) {
    page = try keys.reader.record(at: keys.directory.places[index])
    root = keys.reader.root
    (directory, self.index) = (keys.directory, index)
  }

  /// O(keys of the page before the key).
  func count(
    below key: UnsafeRawBufferPointer, at sequence: UInt64
  ) throws(StatePage.Damage) -> KeyCount {
    let key = ByteRun(key)
    var cursor = page.cursor
    var found = KeyCount()
    // How long the last key is, and how much of the key that is looked for it begins with.
    var (length, matched, isFirst) = (0, 0, true)
    repeat {
      guard let shared = cursor.varint(), shared <= UInt64(length), let rest = cursor.lengthPrefixed(),
        !isFirst || directory.withFirst(index, { rest.hasSameBytes(as: $0) }),
        let section = cursor.varint(), let id = cursor.varint(), let flags = cursor.varint()
      else { throw StatePage.Damage("a key of a run is broken") }
      length = Int(truncatingIfNeeded: shared) + rest.count
      guard section <= UInt64(length), id <= UInt64(length), length <= Tree.keyLengthMax else {
        throw StatePage.Damage("a key of a run is broken")
      }
      isFirst = false
      let order = Self.order(Int(truncatingIfNeeded: shared), ByteRun(rest), key, &matched)
      if order > 0 { break }
      let isAlive = try isAlive(flags, &cursor, at: sequence)
      if order == 0 {
        found.isAlive = isAlive
        break
      }
      if isAlive { found.count += 1 }
      if !root.isBase, flags & 1 == 1 { found.count -= 1 }
    } while cursor.remaining > 0
    return found
  }

  /// Below, equal to or above zero if a key is before, equal to or after the one that is looked for. The one before it in
  /// the page is before that one.
  ///
  /// - Parameter matched: how much of the key that is looked for the last key begins with, and then this one.
  @inline(__always)
  private static func order(_ shared: Int, _ rest: ByteRun, _ key: ByteRun, _ matched: inout Int) -> Int {
    if shared > matched { return -1 }
    if shared < matched { return 1 }
    let left = ByteRun(base: key.base + matched, count: key.count - matched)
    let common = rest.commonPrefixLength(left)
    matched += common
    if common == rest.count { return rest.count - left.count }
    if common == left.count { return 1 }
    return Int(rest.base.load(fromByteOffset: common, as: UInt8.self))
      - Int(left.base.load(fromByteOffset: common, as: UInt8.self))
  }

  /// Whether a key is there after an event. O(moments).
  @inline(__always)
  private func isAlive(
    _ flags: UInt64, _ cursor: inout ByteCursor, at sequence: UInt64
  ) throws(StatePage.Damage) -> Bool {
    var isAlive = flags & 1 == 1
    var left = flags >> 1
    guard left > 0 else { return isAlive }
    guard let bytes = cursor.lengthPrefixed(), left <= UInt64(bytes.count), let start = bytes.baseAddress
    else { throw StatePage.Damage("a key of a run is broken") }
    var moments = ByteCursor(start, count: bytes.count)
    var last = root.begin
    while left > 0 {
      guard let distance = moments.mediumVarint(), distance > 0, distance <= root.end - last else {
        throw StatePage.Damage("the moments of a key are broken")
      }
      last += distance
      if last > sequence { return isAlive }
      isAlive.toggle()
      left -= 1
    }
    return isAlive
  }
}
