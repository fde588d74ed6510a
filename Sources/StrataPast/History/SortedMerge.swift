// Goes through several sources that ascend, in the order of what they have.

/// A position in something that ascends.
protocol AscendingSource {
  associatedtype Failure: Error

  /// Goes to the next item. False at the end.
  mutating func next() throws(Failure) -> Bool

  /// Below, equal to or above zero if its item is before, equal to or after that of another source.
  func order(_ other: Self) -> Int
}

/// The items of some sources, ascending; those that are equal are met together. O(sources) for each: a merge has few.
struct SortedMerge<Source: AscendingSource> {
  private(set) var sources: [Source]
  private(set) var areThere: [Bool]
  /// The sources that are at the item, as indices, in their order. Empty before the first one and at the end.
  private(set) var current: [Int] = []

  /// - Parameter areThere: for each source, whether it is at an item, and not at its end.
  init(_ sources: [Source], areThere: [Bool]) {
    assert(sources.count == areThere.count, "it is not known of each source whether it is at its end")
    (self.sources, self.areThere) = (sources, areThere)
  }

  /// - Parameter sources: before their first items.
  init(_ sources: [Source]) throws(Source.Failure) {
    self.init(sources, areThere: sources.map { _ in false })
    for index in sources.indices { areThere[index] = try self.sources[index].next() }
  }

  /// The first source that is at the item. There must be one.
  var first: Source {
    assert(!current.isEmpty && areThere[current[0]], "a source is asked for its item at its end")
    return sources[current[0]]
  }

  /// Goes to the next item. False at the end.
  @inline(__always)
  mutating func next() throws(Source.Failure) -> Bool {
    for index in current { areThere[index] = try sources[index].next() }
    current.removeAll(keepingCapacity: true)
    for index in sources.indices where areThere[index] {
      guard let first = current.first else {
        current.append(index)
        continue
      }
      // Without a copy of either.
      let order = sources.withUnsafeBufferPointer { $0[index].order($0[first]) }
      if order < 0 { current.removeAll(keepingCapacity: true) }
      if order <= 0 { current.append(index) }
    }
    return !current.isEmpty
  }
}
