// Where the keys of one run are: the parts that say where its pages and groups are.

internal import StrataBase
internal import StrataTables

/// The parts of a directory in their order. Pages and groups are numbered through all of them, and each group is in one.
///
/// A merged run has a hundred thousand pages, of which a look at a key needs a few. So a part is read when it is first
/// looked into, and stays in memory as long as the run is open. What is said here of a part is compared with it then, and
/// not before.
final class KeyDirectory: Sendable {
  /// What is known of a part without reading it.
  struct Head {
    var address: RecordAddress
    var pages: Range<UInt32>
    var groups: Range<UInt32>
    var keyCount: UInt32
    /// How many of its keys were there at the run's end, and how many of those before it; in a delta, by how much that
    /// differs from the run's begin.
    var count: Int32
    var countBefore: Int32
  }

  /// The key with which each part begins.
  private let firsts: AscendingKeys
  private let heads: [Head]
  /// The parts that were read.
  private let known: Lock<[KeyDirectoryPart?]>

  private init(_ firsts: consuming AscendingKeys, _ heads: [Head]) {
    self.firsts = firsts
    self.heads = heads
    known = Lock([KeyDirectoryPart?](repeating: nil, count: heads.count))
  }

  static let empty = KeyDirectory(AscendingKeys(), [])

  /// - Parameter keyCount: the number of keys in all pages.
  convenience init(decoding record: RunRecord, keys keyCount: UInt64) throws(PageDamage) {
    // Counts are less than the keys, which fit.
    guard keyCount <= UInt64(Int32.max) else { throw PageDamage("a run has more keys than it can") }
    var cursor = record.cursor
    var firsts = AscendingKeys()
    var (heads, keysLeft) = ([Head](), keyCount)
    while cursor.remaining > 0 {
      try firsts.append(&cursor)
      guard let address = RecordAddress(&cursor), let pages = cursor.varint(), let groups = cursor.varint(),
        let keys = cursor.varint(), let count = cursor.varint().map(ZigZag.decode), groups > 0,
        groups <= pages, pages <= keys, keys <= keysLeft, count.magnitude <= keys
      else { throw PageDamage("a part of a directory of keys has no address, or cannot be") }
      let (page, group) = (heads.last?.pages.upperBound ?? 0, heads.last?.groups.upperBound ?? 0)
      heads.append(
        Head(
          address: address, pages: page..<page + UInt32(pages), groups: group..<group + UInt32(groups),
          keyCount: UInt32(keys), count: Int32(count),
          countBefore: heads.last.map { $0.countBefore + $0.count } ?? 0))
      keysLeft -= keys
    }
    guard keysLeft == 0 else { throw PageDamage("the pages of a run have other keys than it counts") }
    self.init(firsts, heads)
  }

  // MARK: Parts

  var partCount: Int { heads.count }
  var pageCount: Int { Int(heads.last?.pages.upperBound ?? 0) }
  var groupCount: Int { Int(heads.last?.groups.upperBound ?? 0) }

  /// How many of all keys were there at the run's end; in a delta, by how much that differs from its begin.
  var count: Int64 { heads.last.map { Int64($0.countBefore) + Int64($0.count) } ?? 0 }

  func head(of part: Int) -> Head { heads[part] }

  /// The first page of a part.
  func page(ofPart part: Int) -> Int { Int(heads[part].pages.lowerBound) }

  /// The first group of a part.
  func group(ofPart part: Int) -> Int { Int(heads[part].groups.lowerBound) }

  /// The key with which a part begins.
  func first(_ part: Int) -> [UInt8] { firsts.with(part) { Array($0) } }

  /// Below, equal to or above zero if a part begins before, with or after a key.
  func order(_ part: Int, _ key: UnsafeRawBufferPointer) -> Int { firsts.order(part, key) }

  func order(_ part: Int, _ key: [UInt8]) -> Int { key.withUnsafeBytes { order(part, $0) } }

  /// The part that has a key if any has it; nil if the key is before all of them.
  ///
  /// - Parameter start: a part that does not begin after it; nil if none is known. Those near that one are found sooner.
  ///   O(log distance).
  func part(of key: UnsafeRawBufferPointer, from start: Int? = nil) -> Int? {
    firsts.last(notAfter: key, from: start)
  }

  func part(of key: [UInt8]) -> Int? { key.withUnsafeBytes { part(of: $0) } }

  /// The first part that begins at or after a key; the number of parts if there is none. O(log parts).
  func firstPart(from key: [UInt8]) -> Int { key.withUnsafeBytes { firsts.first(notBefore: $0) } }

  /// O(log parts).
  func part(ofPage page: Int) -> Int { part { Int($0.pages.upperBound) <= page } }

  /// O(log parts).
  func part(ofGroup group: Int) -> Int { part { Int($0.groups.upperBound) <= group } }

  /// The first part that is not before something.
  private func part(_ isBefore: (Head) -> Bool) -> Int {
    var (low, high) = (0, heads.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(heads[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The first part from one on of which a key was there at the run's end, in a run that is a base or the first one; the
  /// number of parts if there is none. O(parts).
  func firstPartAtEnd(from part: Int) -> Int {
    heads[part...].firstIndex { $0.count > 0 } ?? heads.count
  }

  // MARK: Reading

  /// Whether a part is in memory.
  func isKnown(_ part: Int) -> Bool { known(part) != nil }

  fileprivate func known(_ part: Int) -> KeyDirectoryPart? { known.withLock { $0[part] } }

  /// Keeps a part that was read. Returns the one that another thread has kept, if one has.
  fileprivate func keep(_ read: KeyDirectoryPart, _ part: Int) -> KeyDirectoryPart {
    known.withLock {
      let kept = $0[part] ?? read
      $0[part] = kept
      return kept
    }
  }

  /// Whether a part begins as it is said here, and its pages before the next part.
  fileprivate func fits(_ read: KeyDirectoryPart, _ part: Int) -> Bool {
    read.withFirst(read.pages.lowerBound) { firsts.order(part, $0) == 0 }
      && (part + 1 == partCount
        || read.withFirst(read.pages.upperBound - 1) { firsts.order(part + 1, $0) > 0 })
  }
}

extension KeySet {
  /// A part of the directory. O(pages of the part) if it was not read before.
  ///
  /// - Parameter keeps: whether it stays in memory. A walk through all parts needs none of them again.
  func part(_ index: Int, keeps: Bool = true) throws(PageDamage) -> KeyDirectoryPart {
    if let known = directory.known(index) { return known }
    let head = directory.head(of: index)
    let part = try KeyDirectoryPart(
      decoding: reader.unkept(at: head.address), head, span: reader.root.end - reader.root.begin)
    guard directory.fits(part, index) else {
      throw PageDamage("a part of a directory has other keys than it is said to have")
    }
    return keeps ? directory.keep(part, index) : part
  }

  /// The first page that begins at or after a key. O(log pages), and a part is read unless one begins with the key, or none
  /// before it.
  func firstPage(from key: [UInt8]) throws(PageDamage) -> Int {
    let next = directory.firstPart(from: key)
    guard next > 0, next == directory.partCount || directory.order(next, key) != 0 else {
      return next < directory.partCount ? directory.page(ofPart: next) : 0
    }
    return try part(next - 1).firstPage(from: key)
  }

  /// The key with which a page begins. A part is read unless the page is the first of one.
  func first(_ page: Int) throws(PageDamage) -> [UInt8] {
    let index = directory.part(ofPage: page)
    guard directory.page(ofPart: index) < page else { return directory.first(index) }
    return try part(index).first(page)
  }

  /// A page near another one of which the key is known without a part, if there is one; that page itself otherwise.
  ///
  /// - Parameters:
  ///   - distance: how far it may be from the page.
  ///   - pages: among which it is, with the page.
  func page(near page: Int, within distance: Int, of pages: Range<Int>) -> Int {
    let part = directory.part(ofPage: page)
    let (first, next) = (directory.page(ofPart: part), Int(directory.head(of: part).pages.upperBound))
    let nearest = page - first <= next - page ? first : next
    return abs(nearest - page) <= distance && pages.contains(nearest) ? nearest : page
  }
}
