// How much of the page files the pages of a tree take.

internal import StrataBase
internal import StrataTables

/// Bytes by page file.
struct PageUsage: Equatable, Sendable {
  private(set) var bytes: [UInt32: UInt64] = [:]

  init() {}

  /// The bytes in all files but some.
  func byteCount(besides files: Set<UInt32>) -> UInt64 {
    bytes.reduce(0) { files.contains($1.key) ? $0 : $0.addingSaturated($1.value) }
  }

  mutating func add(_ address: PageAddress) {
    guard !address.isNone else { return }
    bytes[address.file, default: 0] += UInt64(address.length)
  }

  mutating func remove(_ address: PageAddress) {
    guard !address.isNone else { return }
    let before = bytes[address.file] ?? 0
    assert(before >= UInt64(address.length), "more of a page file dies than was alive")
    let after = before - min(before, UInt64(address.length))
    bytes[address.file] = after > 0 ? after : nil
  }

  mutating func add(_ other: PageUsage) { bytes.merge(other.bytes, uniquingKeysWith: +) }

  /// The number of files, and for each its number and the bytes.
  func append(to buffer: inout RawBuffer) {
    buffer.append(varint: UInt64(bytes.count))
    for (file, used) in bytes.sorted(by: { $0.key < $1.key }) {
      buffer.append(varint: UInt64(file))
      buffer.append(varint: used)
    }
  }

  init?(_ cursor: inout ByteCursor) {
    guard let count = cursor.varint() else { return nil }
    for _ in 0..<count {
      guard let file = cursor.varint().flatMap(UInt32.init(exactly:)), let used = cursor.varint(),
        used <= 1 << 48
      else { return nil }
      bytes[file] = used
    }
  }
}

extension PageUsage {
  /// The bytes of all pages of a tree that are on disk. O(pages); reads the inner pages that are not in memory.
  ///
  /// - Parameter written: the pages of the tree that are being written: stubs do not know new addresses yet.
  init(all tree: Tree, _ written: WrittenPages = WrittenPages()) throws(PageLoss) {
    guard let root = tree.root else { return }
    defer { withExtendedLifetime(root) {} }
    try addAll(PageRef(root), written)
  }

  private mutating func addAll(_ page: PageRef, _ written: WrittenPages) throws(PageLoss) {
    add(written.address(of: page))
    guard !page.isLeaf else { return }
    let page = try page.loadedOrLoss()
    for index in 0..<page.count { try addAll(page.link(index), written) }
  }

  /// The bytes of the pages of a tree that are on disk already. O(pages that changed since an older version of the tree
  /// was saved); reads inner pages that are not in memory only if they are no longer part of the tree.
  ///
  /// - Parameter saved: the last version that was saved, and the bytes of its pages; nil if there is none.
  static func live(
    _ tree: Tree, since saved: (tree: Tree, usage: PageUsage)?
  ) throws(PageLoss) -> PageUsage {
    guard let root = tree.root else { return PageUsage() }
    if let saved, saved.tree.root === root { return saved.usage }
    var border = PageBorder()
    withExtendedLifetime(root) { border.gather(PageRef(root)) }
    guard border.count > 0 else { return PageUsage() }
    if let saved, let before = saved.tree.root {
      var usage = saved.usage
      defer { withExtendedLifetime(before) {} }
      let met = try usage.removeDead(PageRef(before), outside: border)
      if met == border.count { return usage }
    }
    // The tree does not come from the one that was saved last.
    return try PageUsage(all: tree)
  }

  /// Removes the pages of an older version that are not at the border or below it. Returns how many are at the border.
  private mutating func removeDead(_ page: PageRef, outside border: PageBorder) throws(PageLoss) -> Int {
    if border.contains(page) { return 1 }
    remove(page.addressOnDisk)
    guard !page.isLeaf else { return 0 }
    let page = try page.loadedOrLoss()
    var met = 0
    for index in 0..<page.count { met += try removeDead(page.link(index), outside: border) }
    return met
  }
}

/// The addresses of the pages of a tree that are on disk, and whose parents are not.
private struct PageBorder {
  private var addresses: Set<PageAddress> = []

  var count: Int { addresses.count }

  mutating func gather(_ page: PageRef) {
    let address = page.addressOnDisk
    if !address.isNone {
      addresses.insert(address)
    } else if !page.isLeaf {
      for index in 0..<page.count { gather(page.link(index)) }
    }
  }

  func contains(_ page: PageRef) -> Bool { addresses.contains(page.addressOnDisk) }
}
