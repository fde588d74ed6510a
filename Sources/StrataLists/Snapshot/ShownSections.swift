// The sections of a view that a list shows: indexes ↔ ranks.

internal import StrataTables

/// The shown sections. An index is one among the shown sections, a rank an index among those of the view.
///
/// Nearly always the shown sections are one contiguous range: those that a window touches. Declared sections are shown
/// wherever they are, and a window inside each section may leave nothing of some sections; such cases are in two small
/// arrays, before and after the range.
struct ShownSections: Sendable {
  private let leading: [Int]
  private let ranks: Range<Int>
  private let trailing: [Int]

  /// O(declared × log sections), and nothing if none is declared; O(sections × log sections) if sections have windows
  /// with an offset, because each of them has to be checked for shown items.
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

  /// The rank of the section at an index. O(1).
  func rank(at index: Int) -> Int {
    if index < leading.count { return leading[index] }
    let index = index - leading.count
    return index < ranks.count ? ranks.lowerBound + index : trailing[index - ranks.count]
  }

  /// The index of the section with a rank, nil if it is not shown. O(log declared).
  func index(ofRank rank: Int) -> Int? {
    let index = countBefore(rank: rank)
    return index < count && self.rank(at: index) == rank ? index : nil
  }

  /// The number of shown sections with a lower rank. O(log declared).
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
