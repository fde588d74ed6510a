// Loads: what single appends in the same order make, up to the first that is refused.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct LoadTests {
  private struct Stopped: Error {}

  @Test(arguments: 0..<12)
  func `a load makes what single appends make, with the same chain, and stops where they are refused`(
    number: Int
  ) async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    var random = RandomLoad(seed: seed, refusedEvery: number % 3 == 0 ? nil : 60)
    let appends = random.appends(150)
    let model = try LoadModel(appends)
    for form in 0..<3 {
      let store = EventStore.inMemory(clock: .fixed)
      var reached: [LoadReceipt] = []
      let every = form == 0 ? nil : 7
      var failure: LoadError?
      do {
        let receipt =
          switch form {
          case 0: try await store.load(Delivered(appends), durableEvery: every) { reached.append($0) }
          case 1: try await store.load(appends, durableEvery: every) { reached.append($0) }
          default: try loadBlocking(appends, into: store, every) { reached.append($0) }
          }
        #expect(receipt == reached.last)
      } catch let error as LoadError { failure = error }
      #expect(store.head == model.heads.last, "form \(form), SEED=\(seed)")
      #expect(failure?.index == model.refusal.map { UInt64($0.index) }, "SEED=\(seed)")
      #expect(failure?.error == model.refusal?.error, "SEED=\(seed)")
      let last = try #require(reached.last)
      #expect(failure == nil || failure?.loaded == last)
      #expect(last.knownIDs == model.known && last.knownCount == UInt64(model.known.count), "SEED=\(seed)")
      #expect(last.appendCount == UInt64(model.appended))
      #expect(last.sequences.map { $0.lowerBound == 1 && $0.upperBound == store.head.sequence } ?? true)
      let counts = reached.dropLast().map { $0.appendCount + $0.knownCount }
      #expect(counts == counts.indices.map { UInt64($0 + 1) * 7 } || form == 0, "SEED=\(seed)")
      try await store.close()
    }
  }

  private func loadBlocking(
    _ appends: [NewAppend], into store: EventStore, _ every: Int?, _ reached: (LoadReceipt) -> Void
  ) throws -> LoadReceipt {
    try store.loadBlocking(appends, durableEvery: every, reached: reached)
  }

  @Test func `a load that is repeated with ids appends nothing twice, and one that is longer what is new`()
    async throws
  {
    let appends = (0..<1_200).map { number in
      NewAppend([NewEvent("t", in: "s/\(number % 7)", .int(Int64(number)))], id: "line-\(number)")
    }
    let store = EventStore.inMemory()
    try await store.load(appends[..<1_100])
    let receipt = try await store.load(appends)
    #expect(receipt.appendCount == 100 && receipt.knownCount == 1_100 && receipt.sequences == 1_101...1_200)
    // Only the first ids are kept, so that they take no more memory than that.
    #expect(receipt.knownIDs == (0..<1_000).map { "line-\($0)" })
    try await store.close()
  }

  @Test(arguments: 0..<6)
  func `a load over many segments makes what single appends make, and knows all of it again`(
    number: Int
  ) async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    var random = RandomLoad(seed: seed)
    random.isTimed = true
    let appends = random.appends(400)
    let model = try LoadModel(appends)
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 4 << 10
    // Few large groups, which ask for all their names and ids at once, or many small ones.
    options.groupSizeMax = number % 2 == 0 ? 4 << 20 : 2 << 10
    let store = try EventStore.open(SimulatedDisk(), path: "/store", .readWrite, options: options)
    for part in [0..<100, 100..<180, 180..<appends.count] {
      try await store.load(appends[part])
      #expect(store.head == model.heads[part.upperBound], "\(part), SEED=\(seed)")
    }
    // Each part ends a group, and a segment ends with a group.
    #expect(store.log.source.catalog.names.count > 2, "SEED=\(seed)")
    let named = appends.filter { $0.id != nil }
    let receipt = try await store.load(named)
    #expect(receipt.knownCount == UInt64(named.count) && store.head == model.heads.last, "SEED=\(seed)")
    try await store.close()
  }

  @Test(arguments: 0..<10)
  func `a load that is cancelled, or whose sequence throws, keeps what it took, and nothing else`(number: Int)
    async throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    var random = RandomLoad(seed: seed)
    let appends = random.appends(120)
    let model = try LoadModel(appends)
    let taken = Int.random(in: 0..<appends.count, using: &random.random)
    let store = EventStore.inMemory(clock: .fixed)
    let isCancelled = number % 2 == 0
    let source = Delivered(appends) { left in
      guard left == appends.count - taken else { return }
      guard isCancelled else { throw Stopped() }
      withUnsafeCurrentTask { $0?.cancel() }
    }
    let load = Task {
      var last: LoadReceipt?
      do { try await store.load(source) { last = $0 } } catch {
        #expect(isCancelled ? error is CancellationError : error is Stopped, "\(error)")
        return last
      }
      Issue.record("the load ended as if it was whole, SEED=\(seed)")
      return last
    }
    let last = try #require(await load.value)
    // The element that was being delivered while the task was cancelled is the last.
    #expect(store.head == model.heads[isCancelled ? taken + 1 : taken], "SEED=\(seed)")
    #expect(last.appendCount + last.knownCount == UInt64(isCancelled ? taken + 1 : taken))
    // The store goes on.
    try await store.append([NewEvent("t", in: "s/1", .null)])
    try await store.close()
  }

  @Test func `a load that was cancelled before it began takes nothing`() async throws {
    let store = EventStore.inMemory()
    let asked = Lock(0)
    let load = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await store.load(
        Delivered([NewAppend([NewEvent("t", in: "s/1", .null)])]) { _ in asked.withLock { $0 += 1 } })
    }
    await #expect(throws: CancellationError.self) { try await load.value }
    #expect(store.head.sequence == 0 && asked.withLock { $0 } == 0)
    try await store.close()
  }

  // MARK: Documents

  private struct Row: Codable, Identifiable, Sendable, Hashable {
    var id: Int
    var name: String
  }

  @Test func `rows are put in order, the last of one id remains, and a row that is refused has its index`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let rows = store.collection("row", of: Row.self)
    let (stream, feed) = AsyncStream.makeStream(of: Row.self)
    for number in 0..<50 { feed.yield(Row(id: number % 20, name: "\(number)")) }
    feed.finish()
    let receipt = try await rows.load(
      stream, appendID: { "dump:\($0.name)" }, time: { Timestamp(nanoseconds: Int64($0.id)) },
      metadata: ["by": "load"])
    #expect(receipt.appendCount == 50 && receipt.raisedCount == 29)
    let events = try await store.events(in: "row/7")
    #expect(events.map(\.type) == ["$put", "$put", "$put"])
    let names = try events.map { try CBORDecoder().decode(Row.self, from: $0.payload.bytes).name }
    #expect(names == ["7", "27", "47"])
    #expect(try events.allSatisfy { try $0.metadata() == ["by": "load"] })

    struct Named: Codable, Identifiable, Sendable {
      var id: String
    }
    let others = store.collection("named", of: Named.self)
    let (ids, otherFeed) = AsyncStream.makeStream(of: Named.self)
    for id in ["a", "b", "", "c"] { otherFeed.yield(Named(id: id)) }
    otherFeed.finish()
    do {
      try await others.load(ids)
      Issue.record("a row without an id is loaded")
    } catch let error as LoadError {
      #expect(error.index == 2 && error.loaded.appendCount == 2)
      #expect("\(error)".contains("append 2") && error.recoverySuggestion == error.error.next)
    }
    #expect(store.head.sequence == 52)
    try await store.close()
  }

  @Test func `a store that is open for reading, or is closed, loads nothing`() async throws {
    let disk = SimulatedDisk()
    let append = NewAppend([NewEvent("t", in: "s/1", .null)])
    let store = try await disk.open(at: "/store")
    try await store.load([append])
    let reader = try await disk.open(at: "/store", .readOnly)
    await #expect(throws: StoreError.readOnly) { try await reader.load([append]) }
    try await reader.close()
    try await store.close()
    do {
      try await store.load([append])
      Issue.record("a closed store loads")
    } catch let error as LoadError {
      #expect(error.index == 0 && error.error.reason == .closed && error.loaded.appendCount == 0)
    }
  }
}
