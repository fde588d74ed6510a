// Buffers that a fold uses again and again.

/// The buffers of one fold. Used by one thread at a time, and never kept by what it fills.
package final class FoldScratch {
  // One thread at a time is what the fold promises, so the checks of exclusive access are left out: they cost a
  // tenth of a fold.
  @exclusivity(unchecked) var value: [UInt8] = []
  @exclusivity(unchecked) var writer = SortKeyWriter()
  /// One per view: where the row was, and where it goes.
  @exclusivity(unchecked) var old: [PlacedKey] = []
  @exclusivity(unchecked) var new: [PlacedKey] = []

  package init() {}

  /// Room for so many views, nothing placed.
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
