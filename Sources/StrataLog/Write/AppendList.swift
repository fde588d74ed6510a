// Appends in order, and their size in bytes.

internal import StrataBase

/// Appends in the order in which they are framed, together with the sum of their encoded bytes.
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

  /// Removes and returns the append of a draft, or returns nil if it is not in the list. O(appends in the list).
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

  /// Removes and returns the first appends, at most this many bytes in total unless the first alone is larger.
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

  /// Removes and returns the appends that satisfy the body, in order. O(appends in the list).
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
    assert(bytes >= 0, "the byte count of a list is not negative")
    assert(bytes == 0 || !appends.isEmpty, "a list without appends has no bytes")
  }
}
