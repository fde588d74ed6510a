// Folds and erasures: a state is that of the log as it is now, in this process and in others.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct ErasedFoldTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.sealsInBackground = false
    return options
  }

  private func store(_ disk: SimulatedDisk) throws -> EventStore {
    try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
  }

  private func fill(_ store: EventStore, _ numbers: Range<Int>) throws {
    for number in numbers {
      try store.appendBlocking([
        NewEvent(
          DocumentEvent.put, in: "person/\(number % 5)",
          .object(["name": .string("n\(number % 5)"), "at": .int(Int64(number))]))
      ])
    }
  }

  @Test func `a fold that has come beyond an erasure holds what one from the start holds`() async throws {
    let disk = SimulatedDisk()
    let store = try store(disk)
    try fill(store, 0..<60)
    let live = store.projector(.documents(only: nil))
    let before = try await live.state(reaching: store.head.sequence)
    #expect(before["person"].count == 5)
    // For the fold, this is the same as another process.
    let reader = try EventStore.open(disk, path: "/store", .readOnly, options: Self.options())
    let elsewhere = Fold(reader.log, .documents(only: nil))
    try elsewhere.run(through: .max)
    try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
    try fill(store, 60..<62)
    let head = store.head.sequence
    let after = try await live.state(reaching: head)
    let anew = Fold(store.log, .documents(only: nil))
    try anew.run(through: head)
    #expect(after.stateHash == anew.state.stateHash && after["person"].count == 4)
    #expect(before["person"].count == 5)
    try reader.log.follow()
    while reader.head.sequence < head { await reader.log.tail.wait(beyond: reader.head.sequence) }
    try elsewhere.run(through: head)
    #expect(elsewhere.state.stateHash == anew.state.stateHash)
    // A state of the past is also that of the log as it is now.
    let past = try await store.states(at: [.sequence(30)], .documents(only: nil))
    #expect(past[0]["person"].count == 4)
    var counts: [Int] = []
    let steps = Fold(store.log, .documents(only: nil))
    try steps.runByAppend(through: head) { counts.append($0["person"].count) }
    #expect(counts.count == Int(store.log.mark.appends) && counts.last == 4)
    try reader.closeBlocking()
    try store.closeBlocking()
  }

  @Test func `a reader that knows a point still makes its state of what the log has now`() throws {
    let disk = SimulatedDisk()
    let store = try store(disk)
    try fill(store, 0..<60)
    let reader = try EventStore.open(disk, path: "/store", .readOnly, options: Self.options())
    // As lists do, which ask the log about a point only where runs do not answer.
    func count() throws -> Int {
      let replay = PastPoints(
        reader, .documents(only: nil), to: [.sequence(30)], view: nil, findsChains: false)
      let states = try #require(try replay.resume(nil))
      return states[0]["person"].count
    }
    #expect(try count() == 5)
    try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
    #expect(try count() == 4)
    try reader.closeBlocking()
    try store.closeBlocking()
  }

  @Test func `no state by appends is shown twice, and none after an erasure holds what it took`() throws {
    for countMax in [1, 2, 32] {
      let store = try store(SimulatedDisk())
      try fill(store, 0..<20)
      let fold = Fold(store.log, .documents(only: nil))
      try fold.run(through: 10)
      try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
      let head = store.head.sequence
      var sequences: [UInt64] = []
      while fold.state.sequence < head || sequences.last != head {
        let states = try fold.statesByAppend(through: head, countMax: countMax)
        if states.isEmpty { break }
        sequences += states.map(\.sequence)
        for state in states where state.sequence == head { #expect(state["person"].count == 4) }
      }
      #expect(sequences == Array(11...head), "\(countMax) at a time")
      try store.closeBlocking()
    }
  }

  @Test func `a fold that has come beyond an erasure in part holds nothing of what is erased so far`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try store(disk)
    try fill(store, 0..<60)
    let live = store.projector(.documents(only: nil))
    let before = try await live.state(reaching: store.head.sequence)
    // The first segment cannot be rewritten.
    let first = store.log.layout.segment(1)
    disk.onOperation { call in
      call.operation == .rename && call.path.hasPrefix(first) ? .fail(SystemErrorCode.noSpace) : .proceed
    }
    #expect(throws: StoreError.self) {
      try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
    }
    disk.onOperation(nil)
    #expect(try store.eventsBlocking(in: "$erasures", limit: 9).map(\.type) == ["$erase", "$erasing"])
    let head = store.head.sequence
    let anew = Fold(store.log, .documents(only: nil))
    try anew.run(through: head)
    let after = try await live.state(reaching: head)
    #expect(after.stateHash == anew.state.stateHash && after.stateHash != before.stateHash)
    try store.closeBlocking()
  }
}
