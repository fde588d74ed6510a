// Appends in order, and how many bytes they are.

internal import StrataBase

/// Appends in the order in which they are framed. The sum of their encoded bytes is kept with them.
struct AppendList {
  private(set) var appends: [PendingAppend] = []
  private(set) var bytes = 0

  var isEmpty: Bool { appends.isEmpty }
  var count: Int { appends.count }

  mutating func add(_ append: PendingAppend) {
    appends.append(append)
    bytes += append.draft.byteCount
  }

  /// Inserts appends so that the first of them has this index. O(appends in the list).
  mutating func insert(_ inserted: [PendingAppend], at index: Int) {
    appends.insert(contentsOf: inserted, at: index)
    bytes += inserted.reduce(0) { $0 + $1.draft.byteCount }
  }

  /// Takes the append of a draft out, or returns nil where it is not in the list. O(appends in the list).
  mutating func remove(_ draft: AppendDraft) -> PendingAppend? {
    guard let index = appends.firstIndex(where: { $0.draft === draft }) else { return nil }
    bytes -= draft.byteCount
    defer { assertIsConsistent() }
    return appends.remove(at: index)
  }

  mutating func takeAll() -> [PendingAppend] {
    defer { appends = [] }
    bytes = 0
    return appends
  }

  /// Takes the first appends, of at most this many bytes in all unless the first alone is larger.
  mutating func takeFirst(bytesMax: Int) -> [PendingAppend] {
    if bytes <= bytesMax { return takeAll() }
    var taken = 0
    var count = 0
    while count < appends.count {
      let next = taken + appends[count].draft.byteCount
      if count > 0, next > bytesMax { break }
      taken = next
      count += 1
    }
    let first = Array(appends[..<count])
    appends.removeSubrange(..<count)
    bytes -= taken
    assertIsConsistent()
    return first
  }

  /// Takes out those that the body picks, in their order. O(appends in the list).
  mutating func take(where isTaken: (PendingAppend) -> Bool) -> [PendingAppend] {
    var taken: [PendingAppend] = []
    appends.removeAll { append in
      guard isTaken(append) else { return false }
      taken.append(append)
      return true
    }
    bytes -= taken.reduce(0) { $0 + $1.draft.byteCount }
    assertIsConsistent()
    return taken
  }

  private func assertIsConsistent() {
    assert(bytes >= 0, "a list of appends does not have fewer than no bytes")
    assert(bytes == 0 || !appends.isEmpty, "a list without appends has no bytes")
  }
}
