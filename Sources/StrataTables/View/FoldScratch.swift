// Buffers that a fold reuses.

/// The buffers of one fold. Used by one thread at a time; nothing that is filled from them keeps them.
package final class FoldScratch {
  // A fold guarantees one thread at a time, so the checks of exclusive access are left out: they cost a tenth of a
  // fold.
  @exclusivity(unchecked) var value: [UInt8] = []
  @exclusivity(unchecked) var writer = SortKeyWriter()
  /// One key per view: the row's previous position, and the new one.
  @exclusivity(unchecked) var old: [PlacedKey] = []
  @exclusivity(unchecked) var new: [PlacedKey] = []

  package init() {}

  /// Makes room for `viewCount` views and clears their keys.
  func prepare(viewCount: Int) {
    while old.count < viewCount {
      old.append(PlacedKey())
      new.append(PlacedKey())
    }
    for index in 0..<viewCount {
      old[index].clear()
      new[index].clear()
    }
  }
}
