// The sections that a diff looks at, each with its place and size in both lists.

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
    /// Its place; nil where it holds nothing. It may be behind the last section that is shown.
    var rank: Int?
    /// The rank of its first item among all items.
    var start = 0
    var count = 0
    /// How many of its items are shown.
    var shown = 0
    /// Whether the list shows the section.
    var isShown = false

    init(_ section: UnsafeRawBufferPointer, in list: ListVersion, _ view: borrowing View) {
      if list.isSectioned {
        rank = view.rank(ofSection: section)
        guard let rank else { return }
        count = view.itemCount(of: section)
        start = view.start(of: section)
        isShown = rank < list.sectionCount
        shown = list.shownCount(ofSectionAt: rank, count: count)
      } else if section.isEmpty {
        rank = 0
        count = view.count
        isShown = true
        shown = list.shownCount(ofSectionAt: 0, count: count)
      }
    }
  }
}

/// The pairs, found by their keys.
struct SectionPairs {
  private(set) var all: [SectionPair] = []
  private var places: [[UInt8]: Int] = [:]
  private var last = 0
  private let old: ListVersion
  private let new: ListVersion
  // Held by value: to read a view through a list copies it.
  private let oldView: View
  private let newView: View
  /// Up to so many are found by looking at each.
  private static let searchedCountMax = 8

  init(old: ListVersion, new: ListVersion) {
    self.old = old
    self.new = new
    oldView = old.view
    newView = new.view
  }

  /// How many items of a list stand before a key.
  func rank(of key: UnsafeRawBufferPointer, _ end: SectionPair.End) -> Int {
    end == .old ? oldView.items.rank(of: key).rank : newView.items.rank(of: key).rank
  }

  /// The place of a section in `all`.
  mutating func index(of section: UnsafeRawBufferPointer) -> Int {
    func isSame(_ index: Int) -> Bool {
      all[index].key.withUnsafeBytes { $0.hasSameBytes(as: section) }
    }
    if last < all.count, isSame(last) { return last }
    if all.count <= Self.searchedCountMax {
      if let index = all.indices.first(where: isSame) {
        last = index
        return index
      }
    } else if let index = places[Array(section)] {
      last = index
      return index
    }
    let key = Array(section)
    all.append(
      SectionPair(key: key, old: .init(section, in: old, oldView), new: .init(section, in: new, newView)))
    if all.count > Self.searchedCountMax {
      if places.isEmpty {
        for (index, pair) in all.enumerated() { places[pair.key] = index }
      } else {
        places[key] = all.count - 1
      }
    }
    last = all.count - 1
    return last
  }
}
