// Reading the pages of one tree of a state.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Reads the pages of one tree of a state, and checks them.
struct StateTreeReader: Sendable {
  private let reader: StateReader
  private let layout: PageLayout
  private let isValid: EntryCheck
  private let healing: TreeHealing?

  init(_ reader: StateReader, pageSize: Int, healing: TreeHealing?, _ isValid: @escaping EntryCheck) {
    self.reader = reader
    layout = Tree(pageSize: pageSize).layout
    self.isValid = isValid
    self.healing = healing
  }

  /// What reads the pages of the tree when they are first looked into. A page that cannot be read, or is not what its
  /// parent says, is made again from the log: see `StateHealing`.
  var source: PageSource {
    PageSource(reader.lineage, reader.cache, willRead: reader.willRead) { (part, source) throws(PageLoss) in
      try ViewMeter.outside { () throws(PageLoss) in try page(part, source) }
    }
  }

  private func page(_ part: PagePart, _ source: PageSource) throws(PageLoss) -> PageRef {
    do throws(PageDamage) {
      let page = try read(part, source)
      reader.count(page)
      return page
    } catch {
      guard let healing else { preconditionFailure("a page without healing is read late: \(error)") }
      return try healing.page(part, layout, error)
    }
  }

  /// A page whose children are stubs, owned by the caller.
  func read(_ part: PagePart, _ source: PageSource) throws(PageDamage) -> PageRef {
    try read(part) { part in PageRef(stubFor: part, in: source) }
  }

  /// A page with everything below it, owned by the caller. O(bytes).
  func readAll(_ part: PagePart) throws(PageDamage) -> PageRef {
    try read(part) { (part) throws(PageDamage) in try readAll(part) }
  }

  private func read(
    _ part: PagePart, _ child: (PagePart) throws(PageDamage) -> PageRef
  ) throws(PageDamage) -> PageRef {
    try PageDamage.inRecord(of: StoreLayout.pageFileName(part.address.file), at: part.address.offset) {
      () throws(PageDamage) in try readRecord(part, child)
    }
  }

  private func readRecord(
    _ part: PagePart, _ child: (PagePart) throws(PageDamage) -> PageRef
  ) throws(PageDamage) -> PageRef {
    let content = try reader.withRaw(of: part.address) { (raw) throws(PageDamage) in
      try StatePage.decode(raw, height: part.height, layout, isValid)
    }
    let page: PageRef
    switch content {
    case .leaf(let leaf):
      page = leaf
      guard Self.fits(leaf, part) else {
        leaf.release()
        throw PageDamage("a leaf does not have the keys that its parent names")
      }
    case .inner(let children): page = try inner(children, part, child)
    }
    page.address.pointee = part.address
    return page
  }

  private static func fits(_ leaf: PageRef, _ part: PagePart) -> Bool {
    guard leaf.total == Int(part.total) else { return false }
    var buffer = KeyBuffer()
    if let low = part.low, buffer.key(of: leaf, 0).order(against: low) < 0 { return false }
    if let high = part.high, buffer.key(of: leaf, leaf.count - 1).order(against: high) >= 0 { return false }
    return true
  }

  private func inner(
    _ children: [StatePage.Child], _ part: PagePart, _ child: (PagePart) throws(PageDamage) -> PageRef
  ) throws(PageDamage) -> PageRef {
    var parts: [PagePart] = []
    var total: UInt64 = 0
    for (index, child) in children.enumerated() {
      total += UInt64(child.total)
      let low = index == 0 ? part.low : child.separator
      let high = index + 1 < children.count ? children[index + 1].separator : part.high
      if let low, let high, !low.lexicographicallyPrecedes(high) {
        throw PageDamage("the separators of a page do not ascend")
      }
      parts.append(
        PagePart(address: child.address, height: part.height - 1, total: child.total, low: low, high: high))
    }
    guard total == UInt64(part.total) else { throw PageDamage("a page's counts are not its total") }
    // The draft does not release what it was given.
    var pages: [PageRef] = []
    do throws(PageDamage) {
      for part in parts { pages.append(try child(part)) }
    } catch {
      for page in pages { page.release() }
      throw error
    }
    var draft = InnerDraft(height: part.height)
    for (index, page) in pages.enumerated() {
      children[index].separator.withUnsafeBytes { draft.append(owned: page, separator: ByteRun($0)) }
    }
    return draft.build(0..<draft.count)
  }
}

extension ByteRun {
  fileprivate func order(against key: [UInt8]) -> Int { key.withUnsafeBytes { order(against: ByteRun($0)) } }
}
