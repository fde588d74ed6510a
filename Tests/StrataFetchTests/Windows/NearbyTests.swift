// The items around an item.

internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataTables
internal import Testing

@Suite struct NearbyTests {
  /// The original formula, over an array. At a size of 1 it returned the previous item.
  private func former(_ ids: [Int], _ id: Int, _ size: Int) -> [Int]? {
    guard size > 0, let place = ids.firstIndex(of: id) else { return nil }
    if place < size { return Array(ids.prefix(size)) }
    if place >= ids.count - size { return Array(ids.suffix(size)) }
    return Array(ids[place + size / 2 - size..<place + size / 2])
  }

  @Test
  func `R52 Nearby items are those of the formula, over one section, many, and windows`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<23) { "\($0 % 5)" }
    let sectioned = WindowFixture.sectioned
    let requests = [
      sectioned, sectioned.sectionsOrdered(by: .keyDescending), sectioned.sectionsOrdered(by: .count),
      sectioned.windowed(to: .first(13, after: 4)), sectioned.windowed(perSection: .last(3)),
      sectioned.filtered(by: "$section == '2'"),
    ]
    for request in requests {
      let snapshot = try await fixture.list(request).performFetch()
      let ids = snapshot.itemIdentifiers
      for (offset, id) in ids.enumerated() {
        #expect(snapshot.indexOfItem(id) == offset)
        #expect(snapshot.itemIdentifier(atOffset: offset) == id)
        for size in [-1, 0, 2, 3, 4, 5, 12, 23, 40] {
          let nearby = snapshot.nearbyItemIdentifiers(for: id, size: size)
          #expect(nearby == former(ids, id, size), "\(id) of \(ids), \(size)")
          if size > 0 { #expect(nearby?.contains(id) == true && nearby?.count == min(size, ids.count)) }
        }
      }
      #expect(snapshot.nearbyItemIdentifiers(for: 99, size: 4) == nil)
      #expect(snapshot.indexOfItem(99) == nil)
    }
  }

  @Test
  func `R52 The one item nearby is the item itself, in the middle too`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<9)
    let snapshot = try await fixture.list(WindowFixture.flat).performFetch()
    for id in 0..<9 { #expect(snapshot.nearbyItemIdentifiers(for: id, size: 1) == [id]) }
    // The original formula returned the previous item.
    #expect(former(snapshot.itemIdentifiers, 4, 1) == [3])
  }

  @Test
  func `R52 An item's row is read with those around it, and a row that is not shown is an error`()
    async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(0..<30) { "\($0 % 3)" }
    let snapshot = try await fixture.list(WindowFixture.sectioned).performFetch()
    // Across the end of the first section.
    let rows = try await snapshot.rows(near: 27, size: 6)
    #expect(rows.map(\.id) == [18, 21, 24, 27, 1, 4])
    #expect(rows.map(\.owner) == ["0", "0", "0", "0", "1", "1"])
    await #expect(throws: ListError.self) { try await snapshot.rows(near: 99, size: 6) }
    await #expect(throws: ListError.self) { try await snapshot.rows(near: 1, size: 0) }
  }
}
