// Which sections of a view a list shows: places ↔ ranks.

internal import StrataTables

/// The sections that are shown. A place counts the shown ones, a rank those of the view.
///
/// Nearly always they stand in a row: those that a window touches. Declared ones are shown wherever they are, and
/// a window inside each section may leave nothing of some; those stand in two small arrays before and behind.
struct ShownSections: Sendable {
  private let leading: [Int]
  private let ranks: Range<Int>
  private let trailing: [Int]

  /// O(declared × log sections), and nothing where none is declared; O(sections × log sections) where sections
  /// have windows with an offset, since each of them has to be asked whether it shows anything.
  init(_ window: ListWindows, of view: View, isSectioned: Bool, cut: ListCut?) {
    guard isSectioned else {
      (leading, ranks, trailing) = ([], 0..<1, [])
      return
    }
    let touched = cut?.ranks ?? 0..<view.sectionCount
    let declared = touched.count < view.sectionCount || !window.section.isAll ? Self.declared(in: view) : []
    if window.section.offset == 0, window.section.length != 0 {
      ranks = touched
      leading = declared.filter { $0 < touched.lowerBound }
      trailing = declared.filter { $0 >= touched.upperBound }
      return
    }
    var all = declared
    if window.section.length != 0 {
      for rank in touched {
        let isEmpty = view.withSection(at: rank) { _, count in window.section.range(of: count).isEmpty }
        if !isEmpty { all.append(rank) }
      }
    }
    (leading, ranks, trailing) = (Self.ascending(all), 0..<0, [])
  }

  private static func declared(in view: View) -> [Int] {
    ascending(
      view.definition.declaredSections.compactMap { section in
        section.withUnsafeBytes { view.rank(ofSection: $0) }
      })
  }

  private static func ascending(_ ranks: [Int]) -> [Int] {
    var unique: [Int] = []
    for rank in ranks.sorted() where unique.last != rank { unique.append(rank) }
    return unique
  }

  var count: Int { leading.count + ranks.count + trailing.count }

  /// The rank of the section at a place. O(1).
  func rank(at place: Int) -> Int {
    if place < leading.count { return leading[place] }
    let place = place - leading.count
    return place < ranks.count ? ranks.lowerBound + place : trailing[place - ranks.count]
  }

  /// The place of the section with a rank, nil where it is not shown. O(log declared).
  func place(ofRank rank: Int) -> Int? {
    let place = countBefore(rank: rank)
    return place < count && self.rank(at: place) == rank ? place : nil
  }

  /// How many shown sections have a lesser rank. O(log declared).
  func countBefore(rank: Int) -> Int {
    var low = 0
    var high = count
    if ranks.contains(rank) { return leading.count + rank - ranks.lowerBound }
    while low < high {
      let middle = (low + high) / 2
      if self.rank(at: middle) < rank { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
