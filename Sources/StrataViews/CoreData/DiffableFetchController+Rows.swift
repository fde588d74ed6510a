// Rows by their ids, with their neighbours read ahead.

internal import StrataBase
internal import StrataEvents
public import StrataFetch
internal import StrataLists
internal import StrataTables

extension DiffableFetchController {
  /// How many rows around every row that `viewObject` is asked for are read ahead; none where it is nil or not
  /// positive. At most twice as many are kept.
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

  /// A row as the newest list has it, nil where that does not show it. O(log n), and the decoding of the row.
  public func object(with id: Item.ID) -> Item? {
    guard let item = list.snapshot?.row(for: id) else { return nil }
    state.withLock { $0.statistics.rowReadCount += 1 }
    return item
  }

  /// A row as the current list has it, nil where that does not show it: for what is on the screen.
  ///
  /// Its neighbours are read along, so that the calls for them cost a look into a dictionary. O(log n), and the
  /// decoding of up to `nearbyItemsSize` rows.
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
      // What became current meanwhile may have other rows.
      guard state.current?.version === current.version else { return }
      for (key, row) in rows { state.cache.insert(row, key) }
    }
    return item
  }

  static func cacheKey(_ id: Item.ID) -> RowCache<Item>.Key { Array(id.documentID.utf8) }

  /// Changes the state with its cache. Rows that fall out of it end behind the lock: their `deinit` is the
  /// program's, and may ask the controller.
  @discardableResult
  func withCache<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, fallen) = state.withLock { state in
      let result = body(&state)
      return (result, state.cache.takeFallen())
    }
    withExtendedLifetime(fallen) {}
    return result
  }

  /// The ids around an item of the current list, by `nearbyItemsSize`; nil where that is not set, nothing was
  /// fetched, or the list does not show the item.
  ///
  /// Of c items the one at the place i has the first n where i < n, the last n where i ≥ c − n, and otherwise
  /// those from i + n/2 − n up to i + n/2; itself alone where n is 1.
  public func nearbyItemIdentifiers(for id: Item.ID) -> [Item.ID]? {
    let (current, size) = state.withLock { ($0.current, $0.nearbyItemsSize) }
    return current.flatMap { Self.nearby(id, size, in: $0) }
  }

  private static func nearby(
    _ id: Item.ID, _ size: Int?, in snapshot: ListSnapshot<Item, Section>
  ) -> [Item.ID]? {
    size.flatMap { snapshot.nearbyItemIdentifiers(for: id, size: $0) }
  }

  /// The sections of the current list, each with its title, its counts and its rows.
  public var sections: ListSections<Item, Section> { ListSections(snapshot: currentSnapshot) }
}
