// The sections that a diff visits, each with its index and size in both lists.

internal import StrataBase
internal import StrataTables

/// A section in two lists.
struct SectionPair {
  var key: [UInt8]
  var old: Side
  var new: Side

  /// Which of the two lists.
  enum End { case old, new }

  /// The section in one of the lists.
  subscript(end: End) -> Side {
    @inline(__always) get { end == .old ? old : new }
  }

  /// A section in one list.
  struct Side {
    /// Its index among the sections of the list; nil if it is not one of them.
    var index: Int?
    /// The rank of its first item among all items.
    var start = 0
    var count = 0
    /// The range of ranks in the section whose items are shown.
    var shown = 0..<0
    /// Whether it shows at least one item, and all that its own window leaves.
    var isWhole = false

    init(_ section: UnsafeRawBufferPointer, in list: ListVersion, _ view: borrowing View) {
      if list.isSectioned {
        guard let rank = view.rank(ofSection: section) else { return }
        count = view.itemCount(of: section)
        start = view.start(of: section)
        index = list.sections.index(ofRank: rank)
        shown = list.shownRange(ofRank: rank, count: count)
      } else if section.isEmpty {
        index = 0
        count = view.count
        shown = list.shownRange(ofRank: 0, count: count)
      }
      isWhole = !shown.isEmpty && shown == list.window.section.range(of: count)
    }
  }
}

/// The pairs, with a lookup by key.
struct SectionPairs {
  private(set) var all: [SectionPair] = []
  /// Hash of a key → the last pair with that hash.
  private var indexes: [UInt64: Int] = [:]
  /// For each pair, the previous one with the same hash, -1 if there is none.
  private var earlier: [Int] = []
  private var last = 0
  private let old: ListVersion
  private let new: ListVersion
  // Held by value: reading a view through a list copies it, and so does a function that returns one. A copy counts a
  // dozen references.
  let oldView: View
  let newView: View
  /// Up to this number of pairs, the lookup is a linear search.
  private static let searchedCountMax = 8

  init(old: ListVersion, new: ListVersion) {
    self.old = old
    self.new = new
    oldView = old.view
    newView = new.view
  }

  /// The items of one of the lists.
  func items(_ end: SectionPair.End) -> Tree { end == .old ? oldView.items : newView.items }

  /// The rank of a section's first item in one of the lists, and the range of its items that is shown.
  func window(_ index: Int, _ end: SectionPair.End) -> (start: Int, shown: Range<Int>) {
    end == .old
      ? (all[index].old.start, all[index].old.shown) : (all[index].new.start, all[index].new.shown)
  }

  /// The index of a section in `all`; it is added if it is missing.
  mutating func index(of section: UnsafeRawBufferPointer) -> Int {
    if last < all.count, isSame(last, section) { return last }
    last = find(section) ?? add(section)
    return last
  }

  private func isSame(_ index: Int, _ section: UnsafeRawBufferPointer) -> Bool {
    all[index].key.withUnsafeBytes { $0.hasSameBytes(as: section) }
  }

  private func find(_ section: UnsafeRawBufferPointer) -> Int? {
    guard all.count > Self.searchedCountMax else { return all.indices.first { isSame($0, section) } }
    var index = indexes[XXH64.of(section)] ?? -1
    while index >= 0, !isSame(index, section) { index = earlier[index] }
    return index >= 0 ? index : nil
  }

  private mutating func add(_ section: UnsafeRawBufferPointer) -> Int {
    all.append(
      SectionPair(
        key: Array(section), old: .init(section, in: old, oldView), new: .init(section, in: new, newView)))
    if all.count > Self.searchedCountMax {
      for index in earlier.count..<all.count {
        let hash = all[index].key.withUnsafeBytes { XXH64.of($0) }
        earlier.append(indexes.updateValue(index, forKey: hash) ?? -1)
      }
    }
    return all.count - 1
  }
}
