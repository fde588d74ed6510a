// Whole trees from page files.

internal import StrataBase
internal import StrataLog

/// The root of a tree in the page files.
struct StateTreeRoot: Equatable {
  /// The number of entries; 0 for an empty tree, which has no page.
  var total: UInt32 = 0
  var height: UInt8 = 0
  var place = StoredPlace.none

  func append(to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(total))
    guard total > 0 else { return }
    bytes.append(byte: height)
    StatePage.append(place, to: &bytes)
  }

  init() {}

  init(total: UInt32, height: UInt8, place: StoredPlace) {
    self.total = total
    self.height = height
    self.place = place
  }

  /// Reads a root; nil for bytes that are none.
  init?(_ cursor: inout ByteCursor) {
    guard let total = cursor.varint().flatMap(UInt32.init(exactly:)) else { return nil }
    guard total > 0 else {
      self.init()
      return
    }
    guard let height = cursor.integer(UInt8.self), let place = StatePage.place(&cursor) else { return nil }
    self.init(total: total, height: height, place: place)
  }
}

/// The page files of one state, open for reading. Safe to use from several threads.
struct StateReader: Sendable {
  private let files: [UInt32: any File]

  init(_ files: [UInt32: any File]) { self.files = files }

  /// The tree with a root: every page is read, and everything that reads of it rely on is checked. O(bytes).
  func tree(
    _ root: StateTreeRoot, pageSize: Int, on parallel: Parallel, _ isValid: @escaping StateEntryCheck
  ) throws(StatePage.Damage) -> Tree {
    guard root.total > 0 else { return Tree(pageSize: pageSize) }
    let walk = Walk(reader: self, layout: Tree(pageSize: pageSize).layout, isValid: isValid)
    let page = try walk.page(
      Part(place: root.place, height: Int(root.height), total: root.total, low: nil, high: nil), on: parallel)
    guard page.isLeaf || page.count > 1 else {
      page.release()
      throw StatePage.Damage("a root has only one child")
    }
    return Tree(pageSize: pageSize, owned: page)
  }

  fileprivate func withRaw<Result>(
    of place: StoredPlace, _ body: (UnsafeRawBufferPointer) throws(StatePage.Damage) -> Result
  ) throws(StatePage.Damage) -> Result {
    guard let file = files[place.file] else {
      throw StatePage.Damage("a page is in a file that is not named")
    }
    let size = (try? file.size()) ?? 0
    // Nothing is allocated for a record that the file cannot hold.
    guard Int64(place.offset) + Int64(place.length) <= size else {
      throw StatePage.Damage("a page is past the end of its file")
    }
    let record = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(place.length), alignment: 16)
    defer { record.deallocate() }
    guard (try? file.read(into: record, at: Int64(place.offset))) == record.count else {
      throw StatePage.Damage("a page cannot be read")
    }
    return try StatePage.withRaw(UnsafeRawBufferPointer(record), of: place, body)
  }
}

/// A page to be read, and what its parent says of it.
private struct Part: Sendable {
  var place: StoredPlace
  var height: Int
  var total: UInt32
  /// No key of the page is below it.
  var low: [UInt8]?
  /// Every key of the page is below it.
  var high: [UInt8]?
}

private struct Walk: Sendable {
  let reader: StateReader
  let layout: PageLayout
  let isValid: StateEntryCheck
  /// The number of entries from which the children of a page are read by several threads.
  static let parallelCountMin = 4096

  /// A page with everything below it, owned by the caller.
  func page(_ part: Part, on parallel: Parallel = .none) throws(StatePage.Damage) -> PageRef {
    let content = try reader.withRaw(of: part.place) { (raw) throws(StatePage.Damage) in
      try StatePage.decode(raw, height: part.height, layout, isValid)
    }
    let page: PageRef
    switch content {
    case .leaf(let leaf):
      page = leaf
      guard fits(leaf, part) else {
        leaf.release()
        throw StatePage.Damage("a leaf does not have the keys that its parent names")
      }
    case .inner(let children): page = try inner(children, part, parallel)
    }
    page.place.pointee = part.place
    return page
  }

  private func fits(_ leaf: PageRef, _ part: Part) -> Bool {
    guard leaf.total == Int(part.total) else { return false }
    var buffer = KeyBuffer()
    if let low = part.low, buffer.key(of: leaf, 0).order(against: low) < 0 { return false }
    if let high = part.high, buffer.key(of: leaf, leaf.count - 1).order(against: high) >= 0 { return false }
    return true
  }

  private func inner(
    _ children: [StatePage.Child], _ part: Part, _ parallel: Parallel
  ) throws(StatePage.Damage) -> PageRef {
    var parts: [Part] = []
    var total: UInt64 = 0
    for (index, child) in children.enumerated() {
      total += UInt64(child.total)
      let low = index == 0 ? part.low : child.separator
      let high = index + 1 < children.count ? children[index + 1].separator : part.high
      if let low, let high, !low.lexicographicallyPrecedes(high) {
        throw StatePage.Damage("the separators of a page do not ascend")
      }
      parts.append(
        Part(place: child.place, height: part.height - 1, total: child.total, low: low, high: high))
    }
    guard total == UInt64(part.total) else { throw StatePage.Damage("a page's counts are not its total") }
    let pages = try pages(parts, Int(part.total) >= Self.parallelCountMin ? parallel : .none)
    var draft = InnerDraft(height: part.height)
    for (index, page) in pages.enumerated() {
      children[index].separator.withUnsafeBytes { draft.append(owned: page, separator: ByteRun($0)) }
    }
    return draft.build(0..<draft.count)
  }

  /// All pages, or none: if one cannot be read, the others are released.
  private func pages(_ parts: [Part], _ parallel: Parallel) throws(StatePage.Damage) -> [PageRef] {
    let results = Lock<[Int: Result<PageRef, StatePage.Damage>]>([:])
    parallel.forEach(below: parts.count) { index in
      if results.withLock({ $0.values.contains { if case .failure = $0 { true } else { false } } }) { return }
      let result = Result { () throws(StatePage.Damage) in try page(parts[index]) }
      results.withLock { $0[index] = result }
    }
    let made = results.withLock { $0 }
    var pages: [PageRef] = []
    var damage: StatePage.Damage?
    for index in parts.indices {
      switch made[index] {
      case .success(let page): pages.append(page)
      case .failure(let found): damage = found
      case nil: break
      }
    }
    guard let damage else { return pages }
    for page in pages { page.release() }
    throw damage
  }
}

extension ByteRun {
  fileprivate func order(against key: [UInt8]) -> Int { key.withUnsafeBytes { order(against: ByteRun($0)) } }
}
