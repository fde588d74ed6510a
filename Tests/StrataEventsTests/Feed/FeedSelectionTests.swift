// A feed of a part of the log is the part of the whole feed.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct FeedSelectionTests {
  private static let streams: [StreamName] = [
    "a", "a/1", "a/2", "ab/1", "b/1", "b", "b/1/2", "/1", "a/", "é/1", "$own/1", "$own",
  ]
  private static let types = ["t", "ta", "u", "$put"]

  private static func store(_ random: inout StrataSimulation.SeededGenerator) async throws -> EventStore {
    var options = StoreOptions()
    options.segmentSizeTarget = [1, 5_000, 5_000, 1 << 20].randomElement(using: &random)!
    options.blockSizeTarget = [1, 300, 4_000].randomElement(using: &random)!
    options.sealsInBackground = false
    let store = EventStore.inMemory(options: options)
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      var events: [NewEvent] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        events.append(
          NewEvent(types.randomElement(using: &random)!, in: streams.randomElement(using: &random)!, .null))
      }
      try await store.append(events)
    }
    return store
  }

  /// A selection, and what it says in plain Swift.
  private static func selection(
    _ random: inout StrataSimulation.SeededGenerator
  ) -> (EventSelection, (RecordedEvent) -> Bool) {
    let stream = streams.randomElement(using: &random)!
    let category = ["a", "b", "", "é", "$own", "none"].randomElement(using: &random)!
    var (selection, contains): (EventSelection, (RecordedEvent) -> Bool)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: (selection, contains) = (.all, { !$0.stream.text.hasPrefix("$") })
    case 1: (selection, contains) = (.stream(stream), { $0.stream == stream })
    default: (selection, contains) = (.category(category), { $0.stream.category == category })
    }
    if Int.random(in: 0..<3, using: &random) == 0 {
      let wanted = [types.randomElement(using: &random)!, types.randomElement(using: &random)!]
      let before = contains
      selection = selection.types(wanted[0], wanted[1])
      contains = { before($0) && wanted.contains($0.type) }
    }
    return (selection, contains)
  }

  @Test(arguments: StrataSimulation.SeededGenerator.historySeeds(500))
  func `a part of the log, however it is read, is that part of the whole`(seed: UInt64) async throws {
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let store = try await Self.store(&random)
    try await expectSelections(store, &random)
    try await expectNames(store)
    try await expectStreamsBackwards(store, &random)
    try await expectPositions(store, &random)
  }

  /// A feed of a selection is that part of the whole feed.
  private func expectSelections(_ store: EventStore, _ random: inout StrataSimulation.SeededGenerator)
    async throws
  {
    let whole = try await appends(store.feed(of: .all.includingInternal(), until: .caughtUp))
    for _ in 0..<6 {
      let (selection, contains) = Self.selection(&random)
      let start = UInt64.random(in: 0...store.head.sequence + 1, using: &random)
      let expected = whole.filter { $0.sequences.upperBound > start }.compactMap {
        append -> RecordedAppend? in
        var part = append
        part.events = append.events.filter(contains)
        return part.events.isEmpty ? nil : part
      }
      let part = try await appends(store.feed(of: selection, from: .sequence(start), until: .caughtUp))
      #expect(part == expected)
    }
  }

  /// The positions of appends and receipts are those of the log.
  private func expectPositions(_ store: EventStore, _ random: inout StrataSimulation.SeededGenerator)
    async throws
  {
    let receipt = try await store.append([NewEvent("t", in: "a/1", .null)], id: "once")
    #expect(try receipt.position == store.head)
    let whole = try await appends(store.feed(of: .all.includingInternal(), until: .caughtUp))
    for append in whole.shuffled(using: &random) {
      let position = try append.position
      #expect(position.sequence == append.sequences.upperBound)
      #expect(position.chain == (try store.log.chain(after: position.sequence)))
    }
    // A stored position is where the rest begins.
    let place = whole.indices.randomElement(using: &random)!
    let text = "\(try whole[place].position)"
    let rest = store.feed(
      of: .all.includingInternal(), from: .position(try #require(LogPosition(text))), until: .caughtUp)
    #expect(try await appends(rest) == Array(whole[(place + 1)...]))
    try await store.append([NewEvent("u", in: "a/1", .null)])
    let again = try await store.append([NewEvent("t", in: "a/1", .null)], id: "once")
    #expect(again.wasKnown && again.time == receipt.time)
    #expect(try again.position == receipt.position)
  }

  @Test func `Appends that share a block have positions of their own`() async throws {
    let store = EventStore.inMemory()
    let run = try store.log.run()
    for number in 1...50 {
      let events = [NewEvent("t", in: "a/\(number)", .null), NewEvent("t", in: "b/\(number)", .null)]
      let draft = try store.draft(events, id: "\(number)", time: nil, expecting: [:])
      #expect(try run.add(draft, label: UInt64(number)))
    }
    #expect(run.drain().failure == nil)
    let whole = try await appends(store.feed(until: .caughtUp))
    var blocks: Set<UInt64> = []
    for (place, append) in whole.enumerated() {
      let block = try #require(try store.log.block(holding: append.sequences.lowerBound))
      blocks.insert(block.header.firstSequence)
      let position = try append.position
      #expect(position.sequence == append.sequences.upperBound)
      let rest = try await appends(store.feed(from: .position(position), until: .caughtUp))
      #expect(rest == Array(whole[(place + 1)...]))
      let events = append.events.map { NewEvent($0.type, in: $0.stream, .null) }
      let again = try await store.append(events, id: append.id)
      #expect(try again.wasKnown && again.position == position)
    }
    #expect(whole.count == 50 && blocks.count < 50)
  }

  /// A stream backwards is the stream reversed.
  private func expectStreamsBackwards(_ store: EventStore, _ random: inout StrataSimulation.SeededGenerator)
    async throws
  {
    for stream in Self.streams {
      let forwards = try await store.events(in: stream)
      #expect(try await store.events(in: stream, before: nil) == forwards.reversed())
      let (end, limit) = (UInt64.random(in: 0...9, using: &random), Int.random(in: 0...4, using: &random))
      let part = try await store.events(in: stream, before: end, limit: limit)
      #expect(part == forwards.filter { $0.revision < end }.suffix(limit).reversed())
    }
    #expect(
      try await store.events(in: "a/1", before: .max, limit: .max).first?.sequence
        == (try await forwardsLast(store)))
  }

  @Test func `a receipt tells the time that it was given when the commit time is later`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let (early, late) = (Timestamp(nanoseconds: 5), Timestamp(nanoseconds: 9))
    let first = try await store.append([NewEvent("t", in: "a/1", .null)], time: late)
    #expect(first.time == late && first.givenTime == nil)
    let second = try await store.append([NewEvent("t", in: "a/1", .null)], id: "x", time: early)
    #expect(second.time == late && second.givenTime == early)
    let again = try await store.append([NewEvent("t", in: "a/1", .null)], id: "x", time: early)
    #expect(again.wasKnown && again.givenTime == early)
  }

  /// The categories, streams and types are those of the log, with their counts.
  private func expectNames(_ store: EventStore) async throws {
    var (categories, streams, types): ([String: UInt64], [StreamName: UInt64], [String: UInt64]) = (
      [:], [:], [:]
    )
    for append in try await appends(store.feed(of: .all.includingInternal(), until: .caughtUp)) {
      for event in append.events {
        categories[event.stream.category, default: 0] += 1
        streams[event.stream, default: 0] += 1
        types[event.type, default: 0] += 1
      }
    }
    func sorted(_ counts: [String: UInt64]) -> [NameCount] {
      counts.map { NameCount(name: $0, eventCount: $1) }
        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
    func isOwn(_ name: String) -> Bool { !name.hasPrefix("$") }
    #expect(try await store.categories() == sorted(categories.filter { isOwn($0.key) }))
    #expect(try await store.eventTypes() == sorted(types))
    let named = Dictionary(uniqueKeysWithValues: streams.map { ($0.text, $1) })
    #expect(try await store.streams() == sorted(named.filter { isOwn($0.key) }))
    for category in ["a", "b", "", "$own", "none"] {
      let expected = sorted(named.filter { StreamName($0.key).category == category })
      #expect(try await store.streams(in: category) == expected)
      // Page by page.
      var paged: [NameCount] = []
      while true {
        let page = try await store.streams(in: category, after: paged.last?.name, limit: 2)
        paged += page
        if page.count < 2 { break }
      }
      #expect(paged == expected)
    }
  }

  private func forwardsLast(_ store: EventStore) async throws -> UInt64? {
    try await store.events(in: "a/1").last?.sequence
  }

  private func appends(_ feed: ChangeFeed) async throws -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    for try await append in feed { appends.append(append) }
    return appends
  }
}
