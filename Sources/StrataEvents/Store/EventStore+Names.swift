// The streams, the categories and the types that a store has.

internal import StrataBase
public import StrataLog

/// A name of the log, and how many events have it.
public struct NameCount: Sendable, Hashable {
  public var name: String
  public var eventCount: UInt64

  package init(name: String, eventCount: UInt64) {
    self.name = name
    self.eventCount = eventCount
  }
}

extension EventStore {
  /// The categories of the store's streams, ascending by their bytes, without those that begin with `$`.
  ///
  /// Read from the indexes: O(segments × limit). To list all, call it again after the last name until fewer than
  /// `limit` come back.
  public func categories(after name: String? = nil, limit: Int = 1000) async throws(StoreError) -> [NameCount]
  {
    try await names(.category, [], after: name, limit: limit) { $0.utf8.first != UInt8(ascii: "$") }
  }

  /// The streams of a category, or of all categories that do not begin with `$`, ascending by their bytes. As
  /// `categories(after:limit:)`.
  public func streams(
    in category: String? = nil, after name: String? = nil, limit: Int = 1000
  ) async throws(StoreError) -> [NameCount] {
    guard let category else {
      return try await names(.stream, [], after: name, limit: limit) { $0.utf8.first != UInt8(ascii: "$") }
    }
    var found: [NameCount] = []
    // The stream that has the category as its whole name comes before those with an id.
    if name == nil, limit > 0 {
      let count = try await version(of: StreamName(category))
      if count > 0 { found = [NameCount(name: category, eventCount: count)] }
    }
    let prefix = Array("\(category)/".utf8)
    return found + (try await names(.stream, prefix, after: name, limit: limit - found.count) { _ in true })
  }

  /// The types of the store's events, ascending by their bytes. As `categories(after:limit:)`.
  public func eventTypes(after name: String? = nil, limit: Int = 1000) async throws(StoreError) -> [NameCount]
  {
    try await names(.type, [], after: name, limit: limit) { _ in true }
  }

  /// The first names after one that are wanted, however many others are in between.
  private func names(
    _ kind: IndexedKind, _ prefix: [UInt8], after name: String?, limit: Int,
    where isWanted: @escaping @Sendable (String) -> Bool
  ) async throws(StoreError) -> [NameCount] {
    try await lookingUp { [log] builds throws(StoreError) in
      try log.refresh()
      var wanted: [NameCount] = []
      var last = name.map { Array($0.utf8) }
      while wanted.count < limit {
        let page = min(max(limit, 100), 10_000)
        let found = try log.index.names(kind, prefix: prefix, after: last, limit: page, builds: builds)
        for entry in found where wanted.count < limit {
          let text = String(decoding: entry.name, as: UTF8.self)
          if isWanted(text) { wanted.append(NameCount(name: text, eventCount: entry.count)) }
        }
        guard found.count == page else { break }
        last = found.last?.name
      }
      return wanted
    }
  }
}
