// Rows by their ids, and reading ahead of their neighbours.

internal import StrataBase
internal import StrataEvents
public import StrataFetch
internal import StrataLists
internal import StrataTables

extension DiffableFetchController {
  /// The number of rows around a row that `viewObject` reads ahead; none if it is nil or not positive. At most twice that
  /// many rows are kept.
  public var nearbyItemsSize: Int? {
    get { state.withLock { $0.nearbyItemsSize } }
    set {
      let old = state.withLock { state in
        state.nearbyItemsSize = newValue
        defer { state.cache = RowCache(generationSize: max(newValue ?? 0, 0)) }
        return state.cache
      }
      withExtendedLifetime(old) {}
    }
  }

  /// A row of the newest list; nil if the list does not show it. O(log n), plus the decoding of the row.
  public func object(with id: Item.ID) -> Item? {
    guard let item = list.snapshot?.row(for: id) else { return nil }
    state.withLock { $0.statistics.rowReadCount += 1 }
    return item
  }

  /// A row of the current list, which is the one on the screen; nil if the list does not show it.
  ///
  /// Its neighbours are read too, so that a call for one of them is a lookup in a dictionary. O(log n), plus the decoding
  /// of up to `nearbyItemsSize` rows.
  public func viewObject(with id: Item.ID) -> Item? {
    let key = Self.cacheKey(id)
    let (current, size, kept) = withCache { state in
      let kept = state.cache.row(key)
      if kept != nil { state.statistics.cacheHitCount += 1 }
      return (state.current, state.nearbyItemsSize, kept)
    }
    if let kept { return kept }
    guard let current, let item = current.row(for: id) else { return nil }
    let nearby = (Self.nearby(id, size, in: current) ?? []).map { ($0, Self.cacheKey($0)) }
    let missing = state.withLock { state in nearby.filter { !state.cache.contains($0.1) } }
    var rows = [(key, item)]
    for (neighbour, neighbourKey) in missing where neighbourKey != key {
      if let row = current.row(for: neighbour) { rows.append((neighbourKey, row)) }
    }
    withCache { state in
      state.statistics.rowReadCount += rows.count
      // A list that became current in the meantime may have other rows.
      guard state.current?.version === current.version else { return }
      for (key, row) in rows { state.cache.insert(row, key) }
    }
    return item
  }

  static func cacheKey(_ id: Item.ID) -> RowCache<Item>.Key { Array(id.documentID.utf8) }

  /// Changes the state with its cache. Rows that are removed from it are released after the lock: their `deinit` belongs
  /// to the program, and may call the controller.
  @discardableResult
  func withCache<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, fallen) = state.withLock { state in
      let result = body(&state)
      return (result, state.cache.takeFallen())
    }
    withExtendedLifetime(fallen) {}
    return result
  }

  /// The ids around an item of the current list; nil if `nearbyItemsSize` is not set, nothing was fetched, or the list
  /// does not show the item.
  ///
  /// With c items and a size of n, they are for the item at index i the first n ids if i < n, the last n if i ≥ c − n,
  /// and otherwise those from i + n/2 − n up to i + n/2; only the item itself if n is 1.
  public func nearbyItemIdentifiers(for id: Item.ID) -> [Item.ID]? {
    let (current, size) = state.withLock { ($0.current, $0.nearbyItemsSize) }
    return current.flatMap { Self.nearby(id, size, in: $0) }
  }

  private static func nearby(
    _ id: Item.ID, _ size: Int?, in snapshot: ListSnapshot<Item, Section>
  ) -> [Item.ID]? {
    size.flatMap { snapshot.nearbyItemIdentifiers(for: id, size: $0) }
  }

  /// The sections of the current list, each with its title, counts and rows. O(1).
  public var sections: ListSections<Item, Section> { ListSections(snapshot: currentSnapshot) }
}
