// Derived files are synced in short steps while the log is synced, so that appends need not wait for long.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SyncStepTests {
  /// What was synced of the first file of one kind.
  private struct Steps {
    var path: String?
    var count = 0
  }

  private static func text(_ random: inout SeededGenerator) -> DocumentValue {
    let bytes = (0..<300).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// A store with 800 KB of rows.
  private static func store(_ disk: SimulatedDisk, _ durability: Durability) throws -> EventStore {
    var random = SeededGenerator(seed: 9)
    var options = StateStore.options(savingFrom: .seconds(3600))
    options.durability = durability
    options.history = .all
    options.segmentSizeTarget = 1 << 20
    options.savesStates = true
    let store = try StateStore.open(disk, options: options)
    for first in stride(from: 0, to: 2_500, by: 100) {
      try store.appendAny(
        (first..<first + 100).map { number in
          NewEvent(
            DocumentEvent.put, in: StreamName(category: "a", id: "\(number)"),
            payload: EventPayload(["t": text(&random)]))
        })
    }
    return store
  }

  /// How many times the first file with a suffix is synced during a piece of work, while each sync comes after an append
  /// or not. Of the events that are appended so, a history makes further files.
  private static func steps(
    _ disk: SimulatedDisk, _ store: EventStore, _ suffix: String, isBusy: Bool, _ work: () throws -> Void
  ) throws -> Int {
    let steps = Lock(Steps())
    disk.onOperation { call in
      guard call.operation == .syncData, call.path.hasSuffix(suffix) else { return .proceed }
      let count = steps.withLock { steps -> Int? in
        steps.path = steps.path ?? call.path
        guard steps.path == call.path else { return nil }
        steps.count += 1
        return steps.count
      }
      if isBusy, let count { try? store.put("busy", in: "b", ["n": .int(Int64(count))]) }
      return .proceed
    }
    defer { disk.onOperation(nil) }
    try work()
    return steps.withLock { $0.count }
  }

  @Test func `steps are short while the log is synced, and grow while it is not`() {
    var step = SyncStep()
    #expect(step.length == SyncStep.lengthMin)
    var lengths: [Int] = []
    for _ in 0..<9 {
      step.end(durable: 7)
      lengths.append(step.length >> 10)
    }
    #expect(lengths == [24, 48, 96, 192, 384, 768, 1_536, 3_072, 4_096])
    step.end(durable: 8)
    #expect(step.length == SyncStep.lengthMin)
    step.end(durable: 9)
    #expect(step.length == SyncStep.lengthMin)
  }

  @Test(arguments: [Durability.synced, .buffered])
  func `a checkpoint and a run are written in short steps beside synced appends alone`(
    _ durability: Durability
  ) throws {
    for isBusy in [false, true] {
      let disk = SimulatedDisk()
      let store = try Self.store(disk, durability)
      let isShort = isBusy && durability == .synced
      let saved = try Self.steps(disk, store, StoreLayout.pagesSuffix, isBusy: isBusy) {
        _ = try store.checkpointBlocking()
      }
      #expect(isShort ? saved > 16 : (3...12).contains(saved), "\(saved)")
      let historian = try #require(store.projector(StateStore.documents).historian)
      let recorded = try Self.steps(disk, store, ".run", isBusy: isBusy) {
        try historian.recordBlocking(writesRest: true)
      }
      #expect(isShort ? recorded > 16 : (3...12).contains(recorded), "\(recorded)")
      try store.closeBlocking()
    }
  }
}
