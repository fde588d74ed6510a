// Finds one key in a page of keys, without putting the keys together.

internal import StrataBase
internal import StrataTables

/// A page of keys of one run. The page is read up to the key, or to where it would be.
///
/// Each key in a page is written without what it shares with the one before. So of every key that is passed only this
/// length is compared with what the one before shares with the key that is looked for: less of it, and the key is past
/// that one; more, and it is still before it.
struct KeyPage {
  private let page: RunRecord
  private let keys: ByteCursor
  private let (part, index): (KeyDirectoryPart, Int)
  /// Its keys at the end of the run, by their indexes in the page.
  let lives: KeyLives

  /// - Parameter part: of the directory, with the page.
  init(
    _ keys: KeySet, at index: Int, in part: KeyDirectoryPart, _ sweep: RunSweep?
  ) throws(PageDamage) {
    let address = part.address(of: index)
    if let sweep { page = try sweep.record(at: address) } else { page = try keys.reader.record(at: address) }
    (self.part, self.index) = (part, index)
    var cursor = page.cursor
    lives = try PageLives(&cursor, part, page: index, isBase: keys.reader.root.isBase)
      .atEnd(isBase: keys.reader.root.isBase)
    self.keys = cursor
  }

  /// The index of the first key that is not less than another one, or of the end, and whether it is that key. O(keys of
  /// the page before the key).
  func position(of key: UnsafeRawBufferPointer) throws(PageDamage) -> (position: Int, isFound: Bool) {
    let key = ByteRun(key)
    var cursor = keys
    let count = part.numbers(of: index).count
    // How long the last key is, and how much of the key that is looked for it begins with.
    var (length, matched) = (0, 0)
    for position in 0..<count {
      guard let shared = cursor.varint(), shared <= UInt64(length), let rest = cursor.lengthPrefixed(),
        position > 0 || part.withFirst(index, { rest.hasSameBytes(as: $0) }),
        let section = cursor.varint(), let id = cursor.varint()
      else { throw PageDamage("a key of a run is broken") }
      length = Int(truncatingIfNeeded: shared) + rest.count
      guard section <= UInt64(length), id <= UInt64(length), length <= RunKey.lengthMax else {
        throw PageDamage("a key of a run is broken")
      }
      let order = Self.order(Int(truncatingIfNeeded: shared), ByteRun(rest), key, &matched)
      if order >= 0 { return (position, order == 0) }
    }
    guard cursor.remaining == 0 else { throw PageDamage("a page has other keys than its run counts") }
    return (count, false)
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
}
