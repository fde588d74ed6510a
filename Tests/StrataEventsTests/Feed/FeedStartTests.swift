// Feeds from every place of a log of many segments: whole appends, each once, and never of another history.

import StrataEvents
import StrataLog
import Testing

@Suite struct FeedStartTests {
  /// Eight appends of three events, two in a block, and a segment for each block.
  private func store() throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 1
    let store = try EventStore.open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
    for group in 0..<4 {
      let events = (0..<3).map { NewEvent("t", in: StreamName("s/\(group)"), ["n": .int(Int64($0))]) }
      let drafts = try (0..<2).map { _ in try store.draft(events, id: nil, time: nil, expecting: [:]) }
      for result in try store.log.appendBlocking(drafts) { _ = try result.get() }
    }
    return store
  }

  private func appends(_ store: EventStore, from start: LogPoint) async throws -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    for try await append in store.feed(from: start, until: .caughtUp) { appends.append(append) }
    return appends
  }

  @Test func `fault 31: a feed delivers whole appends, each once, across segments and from inside of one`()
    async throws
  {
    let store = try store()
    #expect(store.log.source.catalog.names.count == 4)
    let all = (0..<8 as Range<UInt64>).map { (number: UInt64) in number * 3 + 1...number * 3 + 3 }
    #expect(try await appends(store, from: .beginning).map(\.sequences) == all)
    for start in 0...UInt64(25) {
      let seen = try await appends(store, from: .sequence(start))
      #expect(seen.map(\.sequences) == all.filter { $0.upperBound > start }, "after \(start)")
      #expect(seen.allSatisfy { $0.events.map(\.sequence) == Array($0.sequences) }, "after \(start)")
    }
    try await store.close()
  }

  @Test func `fault 34: a position of another history is refused, whichever it is`() async throws {
    let store = try store()
    for sequence in 0...UInt64(24) {
      let chain = try #require(try store.log.chain(after: sequence))
      let seen = try await appends(store, from: .position(.init(sequence: sequence, chain: chain)))
      #expect(seen.count == 8 - Int(sequence / 3))
      await #expect(throws: StoreError.diverged(sequence: sequence)) {
        try await appends(store, from: .position(.init(sequence: sequence, chain: chain ^ 1)))
      }
    }
    try await store.close()
  }
}
