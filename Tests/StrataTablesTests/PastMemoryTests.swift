// The memory of states of the past that somebody holds: bounded in all, whatever they were made from.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLog
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PastMemoryTests {
  private static let limit = 256 << 10
  private static let rowCount = 300
  private static let documents = Folding.documents(only: nil)
  private static let view = StateKeptViewTests.definition(nil)

  /// A store with a saved state, or with a history, and many appends after it of which each changes some rows.
  private struct Past {
    let store: EventStore
    /// The last event of each append, and the event that each row is of then.
    private(set) var moments: [(sequence: UInt64, rows: [String: UInt64])] = []

    init(
      keepsHistory: Bool, limit: Int = PastMemoryTests.limit, memory: Int? = nil, appends: Int = 50
    ) throws {
      var random = SeededGenerator(seed: SeededGenerator.testSeed())
      var options = StoreOptions()
      options.sealsInBackground = false
      options.pageCacheSize = limit
      options.unsavedSize = memory
      options.fullDiskPause = .zero
      options.savedFoldingMin = .seconds(1_000)
      if keepsHistory { options.history = .all }
      options.machine = StoreMachine(threads: .system)
      store = try EventStore.open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
      var rows: [String: UInt64] = [:]
      func put(_ numbers: some Sequence<Int>) throws {
        let at = Int64(store.head.sequence)
        let events = numbers.map { number in
          NewEvent(
            DocumentEvent.put, in: "page/\(number)",
            [
              "n": .int(Int64(number % 7)), "at": .int(at),
              "text": .string((0..<80).map { _ in String(random.next(), radix: 36) }.joined()),
            ])
        }
        let first = store.head.sequence + 1
        try store.appendBlocking(events)
        for (index, number) in numbers.enumerated() { rows["\(number)"] = first + UInt64(index) }
      }
      try put(0..<PastMemoryTests.rowCount)
      if keepsHistory {
        try store.projector(PastMemoryTests.documents).historian!.recordBlocking(writesRest: true)
      } else {
        try store.checkpointBlocking()
      }
      for _ in 0..<appends {
        try put((0..<PastMemoryTests.rowCount).shuffled(using: &random).prefix(20))
        moments.append((store.head.sequence, rows))
      }
    }
  }

  /// The rows of a state, each with the event that it is of.
  private static func rows(_ state: TableSet) -> [String: UInt64] {
    var rows: [String: UInt64] = [:]
    state["page"].forEachRow { row in rows[String(decoding: row.id, as: UTF8.self)] = row.revision }
    return rows
  }

  private static func expectWithinBounds(_ store: EventStore, _ states: [TableSet], _ when: String) {
    let memory = store.memory()
    #expect(memory.cacheLimit == limit && memory.pastLimit == limit)
    #expect(memory.cacheByteCount <= limit && memory.pastByteCount <= limit, "\(when): \(memory)")
    let trees = states.flatMap { state in
      [state["page"].rows] + state["page"].views.flatMap { [$0.items, $0.problems] }
    }
    let leaves = Tree.statistics(of: trees).leafBytesAllocated
    #expect(leaves <= memory.cacheByteCount + memory.pastByteCount, "\(when): \(leaves) of \(memory)")
    // Inner pages and stubs come on top.
    let all = Tree.statistics(of: states.flatMap(\.trees)).bytesAllocated
    #expect(all < 8 * limit, "\(when): \(all)")
    #expect(memory.heldByteCount <= all, "\(when): \(memory)")
  }

  @Test(arguments: [false, true], [false, true])
  func `fault 119: fifty states of the past that are held at once stay within the bound, and answer right`(
    keepsHistory: Bool, isConcurrent: Bool
  ) async throws {
    let past = try Past(keepsHistory: keepsHistory)
    let store = past.store
    var states: [TableSet] = []
    func state(at sequence: UInt64) async throws -> TableSet {
      try await store.states(at: [.sequence(sequence)], Self.documents, view: ("page", Self.view))[0]
    }
    if isConcurrent {
      let sequences = past.moments.map(\.sequence)
      states = try await withThrowingTaskGroup(of: TableSet.self) { group in
        for sequence in sequences { group.addTask { try await state(at: sequence) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      states.sort { $0.sequence < $1.sequence }
    } else {
      for moment in past.moments {
        states.append(try await state(at: moment.sequence))
        if states.count % 10 == 1 { Self.expectWithinBounds(store, states, "\(states.count) states") }
      }
    }
    let held = states.map { store.hold($0["page"], sequence: $0.sequence) }
    Self.expectWithinBounds(store, states, "all states")
    #expect(store.memory().heldVersionCount == 50 && store.memory().heldByteCount > 0)
    for (state, moment) in zip(states, past.moments) {
      #expect(Self.rows(state) == moment.rows)
      let view = try #require(state["page"].view(Self.view.identity))
      #expect(
        view.checkInvariants() == nil && view.items.count == state["page"].rows.count - view.problems.count)
    }
    Self.expectWithinBounds(store, states, "all states after they were read")
    withExtendedLifetime(held) {}
    try store.closeBlocking()
  }

  /// The states after some events. Nothing of the read is left when it returns.
  private static func states(_ store: EventStore, at sequences: [UInt64]) throws -> [TableSet] {
    let replay = Replay(store, documents, to: sequences.map { .sequence($0) }, view: ("page", view))
    return try #require(try replay.goOn(nil))
  }

  @Test func `fault 119: what is held is free once it is released`() throws {
    let store = try Past(keepsHistory: false, limit: 64 << 20).store
    var states = try Self.states(store, at: [600, 1_000])
    #expect(states.count == 2 && store.memory().pastByteCount > 0)
    states = []
    #expect(store.memory().pastByteCount == 0)
    try store.closeBlocking()
  }

  @Test func `fault 119: what two states share is counted as long as one of them is held`() throws {
    let past = try Past(keepsHistory: false, limit: 64 << 20)
    let store = past.store
    var states = try Self.states(store, at: past.moments.suffix(3).map(\.sequence))
    while !states.isEmpty {
      let memory = store.memory()
      let leaves = Tree.statistics(of: states.flatMap(\.trees)).leafBytesAllocated
      #expect(leaves <= memory.cacheByteCount + memory.pastByteCount, "\(states.count) states: \(memory)")
      #expect(memory.pastByteCount <= leaves, "\(states.count) states: \(memory)")
      states.removeFirst()
    }
    #expect(store.memory().pastByteCount == 0)
    try store.closeBlocking()
  }

  @Test func `fault 119: the file of a fold stays a small multiple of its state, and answers as it did`()
    throws
  {
    let past = try Past(keepsHistory: false, memory: 64 << 10, appends: 400)
    let store = past.store
    let fold = PastFold(store, Self.documents)
    var written: UInt64 = 0
    var held: [(state: TableSet, rows: [String: UInt64])] = []
    for (index, moment) in past.moments.enumerated() {
      let before = fold.file.length
      let state = try fold.fold(at: moment.sequence)
      fold.settle(state)
      written += fold.file.length > before ? fold.file.length - before : 0
      let rows = UInt64(Self.rowCount) * 1_100
      #expect(fold.file.length <= 10 * rows + 4 * (64 << 10))
      // Some of which the file moves on, and some that are released.
      if index % 37 == 0 { held.append((state.state, moment.rows)) }
      if index % 100 == 99 { held.removeFirst() }
    }
    #expect(written > 10 << 20, "\(written) bytes: the file was not begun again")
    for (state, rows) in held { #expect(Self.rows(state) == rows) }
    #expect(Self.rows(try fold.fold(at: past.moments.last!.sequence).state) == past.moments.last!.rows)
    #expect(fold.counts.healed == 0)
    try store.closeBlocking()
  }

  @Test func `fault 119: a fold keeps to the bound again after its file gave way`() throws {
    let past = try Past(keepsHistory: false)
    let store = past.store
    let fold = PastFold(store, Self.documents)
    for (index, moment) in past.moments.enumerated() {
      if index == 25 {
        #expect(fold.file.length > 0)
        _ = store.log.derivedSpace?.makeRoom(isErasing: false)
      }
      let state = try fold.fold(at: moment.sequence)
      fold.settle(state)
      #expect(store.memory().pastByteCount <= Self.limit)
      if index % 10 == 9 { #expect(Self.rows(state.state) == moment.rows) }
    }
    #expect(fold.file.length > 0)
    try store.closeBlocking()
  }

  @Test func `fault 119: several walks through the past keep no more than the bound together`() throws {
    let past = try Past(keepsHistory: false)
    let store = past.store
    let walks = (0..<4).map { _ in PastStates(store, Self.documents, view: ("page", Self.view)) }
    for moment in past.moments {
      for walk in walks {
        let state = try walk.state(at: moment.sequence)
        #expect(Self.rows(state) == moment.rows)
        // Each keeps one state: its inner pages and stubs come on top.
        #expect(store.memory().pastByteCount <= Self.limit + Self.limit / 4)
      }
    }
    withExtendedLifetime(walks) {
      let sizes = walks.map(\.keptSize)
      #expect(store.memory().pastByteCount == sizes.reduce(0, +))
    }
    try store.closeBlocking()
  }

  @Test(arguments: [false, true])
  func
    `fault 119: what is in a file is folded again where the log needs its room, and stays during an erasure`(
      isErasing: Bool
    ) async throws
  {
    let past = try Past(keepsHistory: false)
    let store = past.store
    var states: [TableSet] = []
    for moment in past.moments.suffix(5) {
      states += try await store.states(
        at: [.sequence(moment.sequence)], Self.documents, view: ("page", Self.view))
    }
    #expect(store.memory().pastByteCount <= Self.limit, "the rows of five states are more than that")
    if isErasing {
      try store.eraseBlocking(Erasure(streams: ["page/3"], because: "asked to"))
    } else {
      store.pastMemory.giveWay(isErasing: false)
    }
    for (state, moment) in zip(states, past.moments.suffix(5)) { #expect(Self.rows(state) == moment.rows) }
    // What is read after an erasure lacks the row.
    let next = try await store.states(at: [.sequence(past.moments[48].sequence)], Self.documents)[0]
    #expect(next["page"].count == Self.rowCount - (isErasing ? 1 : 0))
    try store.closeBlocking()
  }
}
