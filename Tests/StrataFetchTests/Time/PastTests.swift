// Lists of the past: each equals the naive fold of a prefix of the log, and a batch turns any of them into any other.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct PastTests {
  @Test
  func `R69 A snapshot at any sequence, inside an append too, is the naive list of the log up to it`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<12 {
      let log = try RandomLog(appends: 10, &random)
      let request = ModelRequest.random(section: "s", &random)
      let list = log.controller(request)
      #expect(log.ends.count < log.models.count - 1, "some sequence is inside an append")
      for sequence in 0...log.head {
        let snapshot = try await list.snapshot(at: .sequence(sequence))
        let model = ModelList(request, of: log.models[Int(sequence)])
        try #require(ModelList(snapshot.version) == model, "\(request) at \(sequence)")
        try #require(snapshot.sequence == sequence)
      }
      let now = ModelList(request, of: log.models[Int(log.head)])
      #expect(ModelList(try await list.snapshot(at: .head).version) == now)
      #expect(try await list.snapshot(at: .beginning).totalNumberOfItems == 0)
    }
  }

  @Test
  func `R69 A snapshot of the past takes sections, sorts, filters and windows as an argument`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<12 {
      let log = try RandomLog(appends: 10, &random)
      let list = log.controller(ModelRequest.random(section: "s", &random))
      for _ in 0..<6 {
        let sequence = UInt64.random(in: 0...log.head, using: &random)
        let other = ModelRequest.random(section: "k", &random)
        let past = try await list.snapshot(at: .sequence(sequence), request: other.request)
        try #require(ModelList(past.version) == ModelList(other, of: log.models[Int(sequence)]))
        let now = try await list.snapshot(at: .head, request: other.request)
        try #require(ModelList(now.version) == ModelList(other, of: log.models[Int(log.head)]))
      }
    }
  }

  @Test
  func `R69 A point that the log does not have is an error, and the list goes on`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 3, &random)
    let list = log.controller(ModelRequest(section: "s"))
    await #expect(throws: ListError.self) { try await list.snapshot(at: .sequence(log.head + 1)) }
    let scrubber = try list.scrubber()
    await #expect(throws: ListError.self) { try await scrubber.move(to: .sequence(log.head + 1)) }
    #expect(try await scrubber.move(to: .sequence(1)).after.sequence == 1)
  }

  @Test
  func `After cancel() nothing of the past is read, and a scrubber that was made before goes on`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 3, &random)
    let list = log.controller(ModelRequest(section: "s"))
    let other = ModelRequest(section: "k").request
    let scrubber = try list.scrubber()
    list.cancel()
    for point in [LogPoint.sequence(1), .head] {
      await #expect(throws: CancellationError.self) { try await list.snapshot(at: point) }
      await #expect(throws: CancellationError.self) { try await list.snapshot(at: point, request: other) }
      await #expect(throws: CancellationError.self) { try await list.changes(from: .beginning, to: point) }
      await #expect(throws: CancellationError.self) {
        try await list.changes(from: .beginning, to: point, request: other)
      }
      await #expect(throws: CancellationError.self) { try await list.why("a", at: point) }
    }
    #expect(throws: CancellationError.self) { try list.scrubber() }
    #expect(try await scrubber.move(to: .sequence(1)).after.sequence == 1)
    #expect(try await scrubber.move(to: .head).after.sequence == log.head)
  }

  @Test
  func `R70 The batch from a to b makes the list at b of the one at a, and the one from b to a undoes it`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<12 {
      let log = try RandomLog(appends: 10, &random)
      let list = log.controller(ModelRequest.random(section: "s", &random))
      for _ in 0..<8 {
        let (a, b) = (
          UInt64.random(in: 0...log.head, using: &random), UInt64.random(in: 0...log.head, using: &random)
        )
        let before = try await list.snapshot(at: .sequence(a))
        let after = try await list.snapshot(at: .sequence(b))
        let there = try await list.changes(from: .sequence(a), to: .sequence(b))
        let back = try await list.changes(from: .sequence(b), to: .sequence(a))
        try #require(try ArrayList(before).applying(there) == ArrayList(after))
        try #require(try ArrayList(after).applying(back) == ArrayList(before))
        // For each item, one batch is the inverse of the other.
        let (gone, come) = (
          there.deletions.map { Pair($0.id, $0.from) }, there.insertions.map { Pair($0.id, $0.to) }
        )
        try #require(gone.reversed() == back.insertions.map { Pair($0.id, $0.to) })
        try #require(come.reversed() == back.deletions.map { Pair($0.id, $0.from) })
        try #require(set(there.changedItems) == set(back.changedItems))
        try #require(there.moves.count == back.moves.count)
        try #require(
          there.sectionDeletions.map(\.section) == back.sectionInsertions.map(\.section).reversed())
        try #require((there.fromSequence, there.toSequence) == (a, b))
      }
    }
  }

  @Test
  func `R70 The batches from a to b and from b to c together make the batch from a to c`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<12 {
      let log = try RandomLog(appends: 10, &random)
      let list = log.controller(ModelRequest.random(section: "s", &random))
      for _ in 0..<6 {
        let points = (0..<3).map { _ in UInt64.random(in: 0...log.head, using: &random) }
        let begin = ArrayList(try await list.snapshot(at: .sequence(points[0])))
        func changes(_ a: Int, _ b: Int) async throws -> ListChanges<String, DocumentValue> {
          try await list.changes(from: .sequence(points[a]), to: .sequence(points[b]))
        }
        let (first, second, both) = (
          try await changes(0, 1), try await changes(1, 2), try await changes(0, 2)
        )
        try #require(try begin.applying(first).applying(second) == begin.applying(both))
        // An item that is inserted and deleted again is in neither, and one that is deleted and inserted again is not a
        // deletion.
        let (came, went) = (set(first.insertions.map(\.id)), set(first.deletions.map(\.id)))
        let (came2, went2) = (set(second.insertions.map(\.id)), set(second.deletions.map(\.id)))
        try #require(set(both.insertions.map(\.id)) == came.subtracting(went2).union(came2.subtracting(went)))
        try #require(set(both.deletions.map(\.id)) == went.subtracting(came2).union(went2.subtracting(came)))
      }
    }
  }

  private struct Pair: Hashable {
    var id: [UInt8]
    var index: ListIndex
    init(_ id: String, _ index: ListIndex) { (self.id, self.index) = (Array(id.utf8), index) }
  }

  /// Ids as bytes: Swift's strings can be equal although their bytes differ.
  private func set(_ ids: [String]) -> Set<[UInt8]> { Set(ids.map { Array($0.utf8) }) }
}
