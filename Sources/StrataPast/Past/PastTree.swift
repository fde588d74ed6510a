// A tree of a past state. No page of it is made before somebody looks into it.

internal import StrataBase
internal import StrataLog
internal import StrataTables
internal import Synchronization

/// Makes the pages of one tree from the keys that runs have. Safe to use from several threads.
///
/// The tree's upper pages are cut where pages of the runs begin, so a look at one key makes one page of each height, and
/// reads of each run some pages. Below a height, a page is made with everything that is under it; its leaves may be
/// dropped again, as those of a saved state: see `PageCache`.
final class PastTree: Sendable {
  /// Lends the value of each key in turn.
  typealias Values =
    @Sendable (
      _ keys: [PastKey], _ body: (PastKey, UnsafeRawBufferPointer) -> Void
    ) throws(PageDamage) -> Void

  /// The height of pages that are made with all that is below them. As many leaves as they can have are enough for as
  /// many keys as such a page is cut to have, however large each is.
  private static let bottom = 3
  /// The pages of runs that a page of that height is cut to have.
  private let bottomPageCount: Int

  private let keys: KeysAt
  /// What the keys of the runs begin with and those of the tree lack, and the first key after all that begin so.
  private let prefix: [UInt8]
  private let end: [UInt8]?
  private let layout: PageLayout
  private let pageSize: Int
  private let values: Values
  private let healing: TreeHealing
  private let noteDamage: @Sendable () -> Void
  /// Pages get addresses, all different, so that two stubs are never taken for each other.
  private let lastAddress = Atomic<UInt64>(0)

  private init(
    _ keys: KeysAt, prefix: [UInt8], end: [UInt8]?, pageSize: Int, bottomPageCount: Int,
    _ healing: TreeHealing, noteDamage: @escaping @Sendable () -> Void, _ values: @escaping Values
  ) {
    self.bottomPageCount = bottomPageCount
    (self.keys, self.prefix, self.end, self.pageSize) = (keys, prefix, end, pageSize)
    (self.healing, self.values, self.noteDamage) = (healing, values, noteDamage)
    layout = Tree(pageSize: pageSize).layout
  }

  /// The tree of the keys that begin with a prefix.
  ///
  /// - Parameters:
  ///   - end: the first key after them; nil for no bound.
  ///   - bottomPageCount: how many pages of runs are looked into for one key: few if values cost more than keys.
  ///   - hasAll: whether no key of the runs is outside of the range.
  ///   - isWanted: whether the tree is looked into soon. Then a tree of few keys is made at once.
  ///   - healing: what makes a page that the runs have lost.
  ///   - noteDamage: called when they have lost one.
  static func make(
    of keys: KeysAt, prefix: [UInt8] = [], end: [UInt8]? = nil, pageSize: Int, bottomPageCount: Int = 4,
    hasAll: Bool = false, isWanted: Bool = true, _ cache: PageCache, _ healing: TreeHealing,
    noteDamage: @escaping @Sendable () -> Void, _ values: @escaping Values
  ) throws(PageDamage) -> Tree {
    let tree = PastTree(
      keys, prefix: prefix, end: end, pageSize: pageSize, bottomPageCount: bottomPageCount, healing,
      noteDamage: noteDamage, values)
    let source = PageSource(tree, cache) { (part, source) throws(PageLoss) in
      try ViewMeter.outside { () throws(PageLoss) in try tree.page(part, source) }
    }
    return try tree.tree(source, hasAll: hasAll, isWanted: isWanted)
  }

  private func tree(
    _ source: PageSource, hasAll: Bool, isWanted: Bool
  ) throws(PageDamage) -> Tree {
    let total = hasAll ? try keys.count() : try keys.count(from: prefix, to: end)
    guard let total = UInt32(exactly: total) else { throw PageDamage("the runs have too many keys") }
    guard total > 0 else { return Tree(pageSize: pageSize) }
    let wholeCountMax = keys.limits.wholeKeyCountMax
    var part = PagePart(address: nextAddress(), height: Self.bottom, total: total, low: nil, high: nil)
    var pages = try keys.pageCount(from: prefix, to: end)
    // Few keys may lie in many pages, beside others that are not there.
    let isLarge = pages > bottomPageCount && max(Int(total), pages) > wholeCountMax
    if isWanted, !isLarge { return try content(part) }
    // Each level of pages leaves at most an eighth.
    while pages > bottomPageCount { (pages, part.height) = (pages / 8 + 1, part.height + 1) }
    // Most lists of the past are looked at in one place, or not at all.
    return Tree(pageSize: pageSize, owned: PageRef(stubFor: part, in: source))
  }

  private func nextAddress() -> PageAddress {
    let number = lastAddress.add(1, ordering: .relaxed).newValue
    return PageAddress(file: 0, offset: number, length: 1, checksum: 0)
  }

  // MARK: Pages

  /// The page of a stub, owned by the caller.
  private func page(_ part: PagePart, _ source: PageSource) throws(PageLoss) -> PageRef {
    do throws(PageDamage) {
      let page = try made(part, source)
      page.address.pointee = part.address
      return page
    } catch {
      noteDamage()
      return try healing.page(part, layout, error)
    }
  }

  private func made(_ part: PagePart, _ source: PageSource) throws(PageDamage) -> PageRef {
    let (low, high) = range(part)
    if part.height > Self.bottom, try keys.pageCount(from: low, to: high) > bottomPageCount {
      return inner(part, try children(part), source)
    }
    let tree = try content(part)
    guard let root = tree.root, PageRef(root).height <= part.height else {
      throw PageDamage("more keys are in a part of a tree than it can have")
    }
    var page = PageRef(root)
    page.retain()
    withExtendedLifetime(tree) {
      if page.height > 0 { shelveLeaves(of: page, low: part.low, high: part.high, source) }
    }
    while page.height < part.height {
      var draft = InnerDraft(height: page.height + 1)
      [UInt8]().withUnsafeBytes { draft.append(owned: page, separator: ByteRun($0)) }
      page = draft.build(0..<1)
    }
    return page
  }

  private func range(_ part: PagePart) -> (low: [UInt8], high: [UInt8]?) {
    (prefix + (part.low ?? []), part.high.map { prefix + $0 } ?? end)
  }

  /// A tree of everything in a part.
  private func content(_ part: PagePart) throws(PageDamage) -> Tree {
    let (low, high) = range(part)
    let found = try keys.keys(from: low, to: high)
    guard found.count == Int(part.total) else {
      throw PageDamage("the runs have other keys than they count")
    }
    var builder = Tree.Builder(pageSize: pageSize)
    try values(found) { key, value in
      key.bytes.withUnsafeBytes {
        builder.append(UnsafeRawBufferPointer(rebasing: $0[prefix.count...]), value)
      }
    }
    let tree = builder.finish()
    guard tree.count == found.count else { throw PageDamage("the runs have keys without values") }
    return tree
  }

  /// The parts below one, each with a key.
  private func children(_ part: PagePart) throws(PageDamage) -> [PagePart] {
    assert(part.height > 0, "a leaf has no parts below it")
    let (low, high) = range(part)
    let cuts = try keys.cuts(from: low, to: high, partCount: PageLayout.childCountMax)
    var parts: [PagePart] = []
    var sum: UInt64 = 0
    for (index, total) in try keys.counts(from: low, to: high, cutAt: cuts).enumerated() {
      let from = index == 0 ? low : cuts[index - 1]
      // The part before it ends there, too: nothing is in between.
      guard total > 0 else { continue }
      sum += UInt64(total)
      let bound = parts.isEmpty ? part.low : Array(from[prefix.count...])
      if !parts.isEmpty { parts[parts.count - 1].high = bound }
      parts.append(
        PagePart(
          address: nextAddress(), height: part.height - 1, total: UInt32(truncatingIfNeeded: total),
          low: bound,
          high: part.high))
    }
    assert(parts.count <= PageLayout.childCountMax, "an inner page has room for its children")
    guard sum == UInt64(part.total) else {
      throw PageDamage("the runs have other keys than they count")
    }
    return parts
  }

  private func inner(_ part: PagePart, _ parts: [PagePart], _ source: PageSource) -> PageRef {
    assert(parts.allSatisfy { $0.height + 1 == part.height }, "the children of a page are one level below it")
    var draft = InnerDraft(height: part.height)
    for child in parts {
      (child.low ?? []).withUnsafeBytes { low in
        draft.append(owned: PageRef(stubFor: child, in: source), separator: ByteRun(low))
      }
    }
    return draft.build(0..<draft.count)
  }

  /// Puts stubs in the place of leaves, so that the cache may drop them.
  private func shelveLeaves(of page: PageRef, low: [UInt8]?, high: [UInt8]?, _ source: PageSource) {
    var buffer = KeyBuffer()
    buffer.begin(page)
    var before = low
    for index in 0..<page.count {
      let after = index + 1 < page.count ? Array(buffer.separator(page, index).buffer) : high
      let child = page.link(index)
      if child.isLeaf {
        let part = PagePart(
          address: nextAddress(), height: 0, total: UInt32(truncatingIfNeeded: child.total), low: before,
          high: after)
        let stub = PageRef(stubFor: part, in: source, loaded: child)
        _ = page.exchange(index, with: stub)
        source.cache.add(PageStub.of(stub.header))
      } else {
        shelveLeaves(of: child, low: before, high: after, source)
      }
      before = after
    }
  }
}
