// Projections that halt: saved up to the event before, so that the next process does not fold up to there again.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// The last events of streams, without the negative ones.
private struct HaltingTally: Projection {
  struct Refusal: Error {}

  static let name = "halting tally"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard event.type == "counted", case .int(let number) = try event.payload.document() else { return }
    tables[TallyProjection.rows, event.stream.id] = TallyProjection.Row(
      id: "", count: Int(number), text: String(repeating: "t", count: 200))
    if number < 0 { throw Refusal() }
  }
}

/// The sums of streams, none of which may be negative.
private struct HaltingSum: Projection {
  struct Refusal: Error {}

  static let name = "halting sum"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard event.type == "counted", case .int(let number) = try event.payload.document() else { return }
    let sum = (tables[TallyProjection.rows, event.stream.id]?.count ?? 0) + Int(number)
    tables[TallyProjection.rows, event.stream.id] = TallyProjection.Row(id: "", count: sum, text: "")
    if sum < 0 { throw Refusal() }
  }
}

@Suite struct HaltedStateTests {
  private static let folding = Folding.own(HaltingTally())

  private func isHalt(_ error: any Error, at sequence: UInt64) -> Bool {
    guard let error = error as? StoreError, error.reason == .halted else { return false }
    return error.what.contains("cannot apply event \(sequence), and halts before it")
  }

  private func append(_ numbers: [Int64], to store: EventStore) throws {
    try store.appendAny(
      numbers.map {
        NewEvent("counted", in: StreamName(category: "counter", id: "\(abs($0) % 40)"), .int($0))
      })
  }

  /// Asks for the state, which halts. Returns the sequence of the state on disk with which the fold began, and the bytes
  /// of the log that were read.
  private func halt(_ store: EventStore, at sequence: UInt64) async throws -> (saved: UInt64?, bytes: UInt64)
  {
    let projector = store.projector(Self.folding)
    for _ in 0..<2 {
      await #expect {
        try await projector.state(reaching: store.head.sequence)
      } throws: {
        isHalt($0, at: sequence)
      }
    }
    #expect(projector.published.sequence == 0, "a state that is part of an append is lent")
    return (projector.checkpoints?.savedSequence, projector.exclusive.fold?.bytesRead ?? 0)
  }

  /// The fold's state is that of the log up to a sequence.
  private func check(_ store: EventStore, _ sequence: UInt64, _ what: String) throws {
    let expected = Fold(store.log, Self.folding)
    try expected.run(through: sequence)
    let restored = try #require(Checkpoints(store.log, Self.folding)?.restore(), "\(what)")
    #expect(restored.tables.sequence == sequence, "\(what)")
    let answers = try StateAnswers(expected.state, of: store)
    #expect(try StateAnswers(restored.tables, of: store).difference(from: answers) == nil, "\(what)")
  }

  @Test
  func
    `fault 72: a projection that halted begins at its halt the next time, wherever in an append and a block that is`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(250)
    while runs.next() {
      let round = runs.count
      let disk = SimulatedDisk()
      var store = try StateStore.open(disk)
      var halt: UInt64 = 0
      var later: [UInt64] = []
      let count = Int.random(in: 1...40, using: &random)
      for number in 0..<count {
        var numbers = (0..<Int.random(in: 1...6, using: &random)).map { _ in
          Int64.random(in: 0..<900, using: &random)
        }
        if number == count / 2 {
          let place = Int.random(in: 0..<numbers.count, using: &random)
          numbers[place] = -1
          halt = store.head.sequence + UInt64(place) + 1
        }
        try append(numbers, to: store)
      }
      let what = "round \(round), event \(halt) of \(store.head.sequence)"
      let first = try await self.halt(store, at: halt)
      #expect(first.saved == nil)
      if Bool.random(using: &random) {
        #expect { try store.checkpointBlocking() } throws: { isHalt($0, at: halt) }
        // The documents are saved even so.
        #expect(store.projector(StateStore.documents).checkpoints?.savedSequence == store.head.sequence)
      }
      if Bool.random(using: &random) {
        try append([5, 6, -1], to: store)
        later = [store.head.sequence]
      }
      try store.closeBlocking()
      for access in [EventStore.Access.readOnly, .readWrite, .readWrite] {
        store = try StateStore.open(disk, access)
        let next = try await self.halt(store, at: halt)
        #expect(next.saved == (halt > 1 ? halt - 1 : nil), "\(what)")
        if halt > 1 {
          try check(store, halt - 1, what)
          // Each of the two reads has read one block.
          let block = try #require(try store.log.block(holding: halt)).header.storedLength
          #expect(next.bytes <= 2 * UInt64(block), "\(what)")
        }
        if access == .readWrite { try append([7], to: store) }
        try store.closeBlocking()
      }
      // Erasing it removes the state, and the fold goes on past the event.
      store = try StateStore.open(disk)
      _ = try await self.halt(store, at: halt)
      for sequence in [halt] + later {
        try store.eraseBlocking(Erasure(sequences: [sequence...sequence], because: "typing error"))
      }
      let difference = try await store.difference(of: Self.folding)
      #expect(difference == nil, "\(what), erased")
      let head = store.head.sequence
      try store.closeBlocking()
      store = try StateStore.open(disk)
      let again = try await store.difference(of: Self.folding)
      #expect(
        again == nil && store.projector(Self.folding).checkpoints?.savedSequence == head, "\(what), erased")
      try store.closeBlocking()
    }
  }

  @Test func `a halted state is saved in the background too, and no oftener than there is something to save`()
    async throws
  {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.writesInStep = false
    let store = try StateStore.open(disk, options: options)
    for number in 0..<50 as Range<Int64> { try append([number], to: store) }
    try append([1, -1], to: store)
    let projector = store.projector(Self.folding)
    _ = try await halt(store, at: 52)
    projector.state.wait { !$0.isSaving }
    #expect(projector.checkpoints?.savedSequence == 51)
    let written = projector.checkpoints?.bytesWritten
    for _ in 0..<9 { _ = try await halt(store, at: 52) }
    projector.state.wait { !$0.isSaving }
    #expect(projector.checkpoints?.bytesWritten == written)
    try store.closeBlocking()
  }

  @Test func `a projection that halts earlier after an erasure is saved up to there`() async throws {
    let disk = SimulatedDisk()
    let folding = Folding.own(HaltingSum())
    var store = try StateStore.open(disk)
    for number: Int64 in [5] + Array(repeating: 1, count: 30) + [-3, 1] {
      let stream = StreamName(category: "counter", id: number == 1 ? "others" : "one")
      try store.appendAny([NewEvent("counted", in: stream, .int(number))])
    }
    _ = try await store.projector(folding).state(reaching: store.head.sequence)
    try store.eraseBlocking(Erasure(sequences: [1...1], because: "asked to"))
    #expect { try store.checkpointBlocking() } throws: { isHalt($0, at: 32) }
    #expect(store.projector(folding).checkpoints?.savedSequence == 31)
    try store.closeBlocking()
    store = try StateStore.open(disk)
    let projector = store.projector(folding)
    await #expect {
      try await projector.state(reaching: store.head.sequence)
    } throws: {
      isHalt($0, at: 32)
    }
    let block = try #require(try store.log.block(holding: 32)).header.storedLength
    #expect(projector.checkpoints?.savedSequence == 31)
    #expect(projector.exclusive.fold.map { $0.bytesRead <= UInt64(block) } == true)
    try store.closeBlocking()
  }
}
