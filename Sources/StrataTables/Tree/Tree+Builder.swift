// Building a tree from entries in ascending order.

internal import StrataBase

extension Tree {
  /// Builds a tree with full pages from entries in strictly ascending order of their keys.
  package struct Builder: ~Copyable {
    private let pageSize: Int
    private let layout: PageLayout
    /// The entries of the next leaf: keys and values one after another.
    private var bytes: RawBuffer
    private var entries: [(offset: Int, keyLength: Int, valueLength: Int)] = []
    /// The length of the common prefix of all keys of the next leaf.
    private var prefixLength = 0
    /// The size of slots and heap of the next leaf, with that prefix.
    private var size = 0
    /// The last key of the last leaf that was written.
    private var lastKey: [UInt8] = []
    private var levels = BuilderLevels()

    package init(pageSize: Int = 4096) {
      self.pageSize = pageSize
      layout = Tree(pageSize: pageSize).layout
      bytes = RawBuffer(capacity: 4 * pageSize)
    }

    /// Appends an entry whose key is greater than all previous keys. Amortised O(1).
    package mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
      precondition(key.count <= Tree.keyLengthMax, "a key has at most 65,535 bytes")
      precondition(value.count <= Tree.valueLengthMax, "a value has at most 2^31 bytes")
      let run = ByteRun(key)
      let isLarge = layout.isLarge(run, ByteRun(value))
      if !entries.isEmpty {
        precondition(self.key(entries.count - 1).order(against: run) < 0, "the keys do not ascend")
        if isLarge || !join(run, value.count) { writeLeaf() }
      } else if levels.hasLeaf {
        lastKey.withUnsafeBytes { last in
          precondition(ByteRun(last).order(against: run) < 0, "the keys do not ascend")
        }
      }
      if entries.isEmpty {
        prefixLength = key.count
        size = Slot.size + value.count
      }
      entries.append((bytes.count, key.count, value.count))
      bytes.append(key)
      guard isLarge else { return bytes.append(value) }
      writeLeaf(layout.page(run, ByteRun(value)))
    }

    /// Appends the leaves of a tree whose keys are all greater than those before. O(pages); reads its first and its last
    /// leaf.
    mutating func append(leavesOf tree: Tree) {
      if !entries.isEmpty { writeLeaf() }
      guard let root = tree.root else { return }
      let reads = PageReads()
      defer { withExtendedLifetime(reads) {} }
      let page = PageRef(root)
      var buffer = KeyBuffer()
      let first = Array(buffer.key(of: page.firstLeaf, 0).buffer)
      let separator = lastKey.withUnsafeBytes { before in
        first.withUnsafeBytes { first in
          let (before, first) = (ByteRun(before), ByteRun(first))
          precondition(!levels.hasLeaf || before.order(against: first) < 0, "the keys do not ascend")
          return levels.hasLeaf ? Array(shortestSeparator(before, first).buffer) : []
        }
      }
      append(leavesOf: page, separator: separator)
      let last = page.lastLeaf
      lastKey.removeAll(keepingCapacity: true)
      lastKey.append(contentsOf: buffer.key(of: last, last.count - 1).buffer)
      withExtendedLifetime(root) {}
    }

    private mutating func append(leavesOf page: PageRef, separator: [UInt8]) {
      if page.isLeaf {
        // It may be a stub, which has what the draft needs to know.
        page.retain()
        return separator.withUnsafeBytes { levels.append(page, separator: ByteRun($0)) }
      }
      let inner = page.loaded
      var buffer = KeyBuffer()
      buffer.begin(inner)
      for index in 0..<inner.count {
        let before = index == 0 ? separator : Array(buffer.separator(inner, index - 1).buffer)
        append(leavesOf: inner.link(index), separator: before)
      }
    }

    /// The tree of all appended entries. O(log n).
    package consuming func finish() -> Tree {
      if !entries.isEmpty { writeLeaf() }
      return Tree(pageSize: pageSize, owned: levels.finish())
    }

    private func key(_ index: Int) -> ByteRun {
      ByteRun(base: UnsafeRawPointer(bytes.base) + entries[index].offset, count: entries[index].keyLength)
    }

    private func value(_ index: Int) -> ByteRun {
      let entry = entries[index]
      return ByteRun(
        base: UnsafeRawPointer(bytes.base) + entry.offset + entry.keyLength, count: entry.valueLength)
    }

    /// Adds an entry to the size of the next leaf. Returns false if it does not fit.
    private mutating func join(_ key: ByteRun, _ valueLength: Int) -> Bool {
      let first = self.key(0)
      let prefix = ByteRun(base: first.base, count: prefixLength)
      var common = prefixLength
      var joined = size
      if key.order(againstPrefix: prefix) != 0 {
        common = first.commonPrefixLength(key)
        joined = 0
        for entry in entries {
          joined += Slot.size + max(0, entry.keyLength - common - 8) + entry.valueLength
        }
      }
      joined += Slot.size + max(0, key.count - common - 8) + valueLength
      guard PageRef.slotsOffset(common) + joined <= layout.area else { return false }
      prefixLength = common
      size = joined
      return true
    }

    /// Writes the gathered entries as a leaf, or takes `large`, the finished leaf of the only entry.
    private mutating func writeLeaf(_ large: PageRef? = nil) {
      let last = entries.count - 1
      var page = large
      if page == nil {
        // A leaf of one entry has no neighbour to share a prefix with.
        let prefix = ByteRun(base: key(0).base, count: last == 0 ? 0 : prefixLength)
        if last == 0 { size = Slot.size + max(0, key(0).count - 8) + value(0).count }
        var writer = LeafWriter(
          prefix: prefix, heapBytes: size - entries.count * Slot.size, capacity: layout.area)
        for index in 0...last { writer.append(key(index), value(index)) }
        page = writer.finish()
      }
      assert(page!.count == entries.count, "a leaf does not have the entries that were gathered for it")
      lastKey.withUnsafeBytes { before in
        let before = ByteRun(before)
        levels.append(page!, separator: levels.hasLeaf ? shortestSeparator(before, key(0)) : before)
      }
      lastKey.removeAll(keepingCapacity: true)
      lastKey.append(contentsOf: key(last).buffer)
      entries.removeAll(keepingCapacity: true)
      bytes.removeAll()
    }
  }
}

extension Tree {
  /// The tree of the entries of several trees, which have the leaves in common with it. The keys of each must be greater
  /// than those of the one before. O(pages).
  package init(joining trees: [Tree], pageSize: Int) {
    let filled = trees.filter { !$0.isEmpty }
    guard filled.count > 1 else {
      self = filled.first ?? Tree(pageSize: pageSize)
      return
    }
    var builder = Builder(pageSize: pageSize)
    for tree in filled { builder.append(leavesOf: tree) }
    self = builder.finish()
  }
}

/// The right edge of a tree that is being built: one draft of an inner page per level.
struct BuilderLevels: ~Copyable {
  private final class Level {
    var draft: InnerDraft
    /// The separator between the page before the draft and the draft.
    var separator: [UInt8]

    init(height: Int, separator: [UInt8]) {
      draft = InnerDraft(height: height)
      self.separator = separator
    }

    /// Builds a page from the draft and begins the next draft.
    func seal(nextSeparator: [UInt8]) -> (PageRef, [UInt8]) {
      let page = draft.build(0..<draft.count)
      assert(page.isTotalOfCounts, "the total of a built page is not the sum of its counts")
      let height = page.height
      draft = InnerDraft(height: height)
      let before = separator
      separator = nextSeparator
      return (page, before)
    }
  }

  private var levels: [Level] = []
  private(set) var hasLeaf = false

  /// Appends a leaf, with the separator between it and the leaf before it.
  mutating func append(_ leaf: PageRef, separator: ByteRun) {
    hasLeaf = true
    append(leaf, separator: separator, level: 0)
  }

  private mutating func append(_ page: PageRef, separator: ByteRun, level: Int) {
    if level == levels.count {
      levels.append(Level(height: level + 1, separator: Array(separator.buffer)))
    }
    if levels[level].draft.count == PageLayout.childCountMax {
      let (full, before) = levels[level].seal(nextSeparator: Array(separator.buffer))
      before.withUnsafeBytes { append(full, separator: ByteRun($0), level: level + 1) }
    }
    assert(page.height == level, "a page is appended to a level that is not its own")
    levels[level].draft.append(owned: page, separator: separator)
  }

  /// The root of all that was appended, owned by the caller; nil if nothing was appended.
  consuming func finish() -> PageRef? {
    guard hasLeaf else { return nil }
    var level = 0
    while true {
      let top = level == levels.count - 1
      let (page, before) = levels[level].seal(nextSeparator: [])
      if top {
        guard page.count == 1 else { return page }
        let child = page.children[0]
        child.retain()
        page.release()
        return child
      }
      level += 1
      before.withUnsafeBytes { bytes in append(page, separator: ByteRun(bytes), level: level) }
    }
  }
}

extension PageRef {
  fileprivate var firstLeaf: PageRef {
    var page = loaded
    while !page.isLeaf { page = page.child(0) }
    return page
  }

  fileprivate var lastLeaf: PageRef {
    var page = loaded
    while !page.isLeaf { page = page.child(page.count - 1) }
    return page
  }
}
