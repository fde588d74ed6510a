// The memory of states of the past that somebody holds: bounded in all, whatever they were made from.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLog
@testable internal import StrataPast
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
      keepsHistory: Bool, limit: Int = PastMemoryTests.limit, memory: Int? = nil, appends: Int = 50,
      on disk: any FileSystem = MemoryFileSystem()
    ) throws {
      var random = SeededGenerator(seed: SeededGenerator.testSeed())
      var options = StoreOptions()
      options.sealsInBackground = false
      options.pageCacheSize = limit
      options.unsavedSize = memory
      options.fullDiskPause = .zero
      options.savedFoldingMin = .seconds(1_000)
      // Of the two, one is enough to write files without a name.
      options.savesStates = !keepsHistory
      if keepsHistory { options.history = .all }
      options.machine = StoreMachine(threads: .system)
      store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
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

  @Test
  func `what states may take while they are made is a part of the bound, however many there are`()
    throws
  {
    let store = try Past(keepsHistory: false, limit: 64 << 20, appends: 1).store
    let memory = store.pastMemory
    #expect(memory.step == 4 << 20)
    var shares = (0..<50).map { _ in memory.share() }
    #expect(shares.count * memory.step <= 16 << 20)
    shares.removeLast(45)
    #expect(memory.step == 64 << 20 / 4 / 5)
    shares = (0..<1_000).map { _ in memory.share() }
    #expect(memory.step == 1 << 16, "less is not worth a look")
    withExtendedLifetime(shares) {}
    try store.closeBlocking()
  }

  @Test func `fault 119: of fifty reads that come at once, a few make their states at the same time`()
    async throws
  {
    let past = try Past(keepsHistory: false)
    let store = past.store
    let counts = Lock([Int]())
    let finished = try await withThrowingTaskGroup(of: Int.self) { group in
      for (number, moment) in past.moments.enumerated() {
        group.addTask {
          // One that is cancelled while it waits gives no other one's slot away.
          if number % 10 == 9 { withUnsafeCurrentTask { $0?.cancel() } }
          do {
            return try await store.withStates(
              at: [.sequence(moment.sequence)], Self.documents, view: ("page", Self.view)
            ) { states in
              counts.withLock { $0.append(store.pastMemory.readerCount) }
              return Self.rows(states[0]) == moment.rows ? 1 : 0
            }
          } catch is CancellationError { return 0 }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(finished == 45)
    #expect(counts.withLock { $0.max() ?? 0 } <= PastSlots.count)
    // All slots are free again.
    var held: [PastSlots.Slot] = []
    for _ in 0..<PastSlots.count { held.append(try await store.pastMemory.slots.take()) }
    let next = Task { try await store.states(at: [.sequence(1)], Self.documents).count }
    for _ in 0..<20 { await Task.yield() }
    #expect(store.pastMemory.readerCount == 0, "a read makes its state without a slot")
    held.removeLast()
    #expect(try await next.value == 1)
    withExtendedLifetime(held) {}
    try store.closeBlocking()
  }

  /// The states after some events. Nothing of the read is left when it returns.
  private static func states(_ store: EventStore, at sequences: [UInt64]) throws -> [TableSet] {
    let replay = PastPoints(store, documents, to: sequences.map { .sequence($0) }, view: ("page", view))
    return try #require(try replay.resume(nil))
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
    let fold = PastReader(store, Self.documents)
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
    let fold = PastReader(store, Self.documents)
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
    // What the program's code makes would stay.
    let view = StateKeptViewTests.definition(nil, calls: .none)
    for moment in past.moments.suffix(5) {
      states += try await store.states(
        at: [.sequence(moment.sequence)], Self.documents, view: ("page", view))
    }
    #expect(store.memory().pastByteCount <= Self.limit, "the rows of five states are more than that")
    if isErasing {
      try store.eraseBlocking(Erasure(streams: ["page/3"], because: "asked to"))
    } else {
      store.pastMemory.evict(isErasing: false)
    }
    for (state, moment) in zip(states, past.moments.suffix(5)) { #expect(Self.rows(state) == moment.rows) }
    // What is read after an erasure lacks the row.
    let next = try await store.states(at: [.sequence(past.moments[48].sequence)], Self.documents)[0]
    #expect(next["page"].count == Self.rowCount - (isErasing ? 1 : 0))
    try store.closeBlocking()
  }

  @Test func `fault 119: a state that a walk has dropped is counted as long as somebody holds it`() throws {
    let past = try Past(keepsHistory: false, limit: 64 << 20)
    let store = past.store
    // It keeps one state.
    var walk: PastStates? = PastStates(store, Self.documents, view: ("page", Self.view), keptSizeMax: 1)
    var held = try [10, 30, 49].map { try walk!.state(at: past.moments[$0].sequence) }
    #expect(walk!.kept.count == 1)
    func check(_ when: String) {
      let memory = store.memory()
      let leaves = Tree.statistics(of: held.flatMap(\.trees)).leafBytesAllocated
      #expect(leaves <= memory.cacheByteCount + memory.pastByteCount, "\(when): \(memory)")
    }
    check("all are held")
    #expect(store.memory().pastByteCount > 2 * walk!.keptSize, "most rows differ")
    held.removeFirst()
    check("two are held")
    let last = held.removeLast()
    held = []
    #expect(store.memory().pastByteCount == walk!.keptSize)
    walk = nil
    held = [last]
    check("the walk has ended")
    held = []
    withExtendedLifetime(last) { #expect(store.memory().pastByteCount > 0) }
    try store.closeBlocking()
  }

  @Test(arguments: [false, true])
  func `fault 119: a few large rows are as much as many small ones`(isWalk: Bool) throws {
    let past = try Past(keepsHistory: false, appends: 0)
    let store = past.store
    // Fewer than the events after which it is looked at how many pages they changed.
    for id in 0..<12 {
      try store.put("large \(id)", in: "page", ["text": .string((0..<12_000).map { "\($0 + id)" }.joined())])
    }
    let size = 12 * 50_000
    #expect(size > 2 * Self.limit)
    if isWalk {
      let walk = PastStates(store, Self.documents, view: ("page", Self.view))
      let state = try walk.state(at: store.head.sequence)
      #expect(state["page"].count == Self.rowCount + 12)
      #expect(store.memory().pastByteCount <= Self.limit + Self.limit / 4)
    } else {
      let fold = PastReader(store, Self.documents)
      let state = try fold.fold(at: store.head.sequence)
      // Before the state is complete.
      #expect(fold.file.length > 0 && store.memory().pastByteCount <= Self.limit + Self.limit / 4)
      #expect(state.state["page"].count == Self.rowCount + 12)
    }
    try store.closeBlocking()
  }

  @Test func `fault 119: a file gives way while its first pages are written`() throws {
    let past = try Past(keepsHistory: false, limit: 64 << 20, appends: 5)
    let store = past.store
    let memory = store.pastMemory
    func last() throws -> TableSet {
      try PastReader(store, Self.documents).fold(at: past.moments.last!.sequence).state
    }
    var state = try last()
    let file = try #require(
      memory.makeFile(Self.documents, store.projectors.pageCache, since: memory.erasureCount))
    memory.spill { () throws(StoreError) in
      try state.spill(to: file, file.healing(store.log, Self.documents, sequence: state.sequence))
      memory.evict(isErasing: false)
      throw .closed
    }
    #expect(file.length > 0 && file.isClosed)
    #expect(Self.rows(state) == past.moments.last!.rows)
    try store.closeBlocking()
  }

  @Test func `fault 119: pages that only the program's code makes stay where they are on a full disk`()
    async throws
  {
    let past = try Past(keepsHistory: false)
    let store = past.store
    let callCount = Lock(0)
    let definition = ViewDefinition(
      identity: ViewIdentity("counting"), sectionOrder: .key, calls: .filters
    ) { row, writer in
      callCount.withLock { $0 += 1 }
      writer.append(row.document.count % 3)
      let section = writer.count
      writer.append(row.idText)
      return PlacedLengths(section: section)
    }
    var states: [TableSet] = []
    for moment in past.moments.suffix(5) {
      states += try await store.states(
        at: [.sequence(moment.sequence)], Self.documents, view: ("page", definition))
    }
    #expect(store.memory().pastByteCount <= Self.limit, "the rows of five states are more than that")
    let before = callCount.withLock { $0 }
    store.pastMemory.evict(isErasing: false)
    for (state, moment) in zip(states, past.moments.suffix(5)) {
      #expect(Self.rows(state) == moment.rows)
      #expect(state["page"].view(definition.identity)?.checkInvariants() == nil)
    }
    #expect(callCount.withLock { $0 } == before, "a page of a list was made again")
    try store.closeBlocking()
  }

  @Test func `fault 119: a file of which a page was lost gets no more pages`() throws {
    let disk = SimulatedDisk()
    let past = try Past(keepsHistory: false, memory: 64 << 10, on: disk)
    let store = past.store
    let fold = PastReader(store, Self.documents)
    func state(at index: Int) throws -> [String: UInt64] {
      let state = try fold.fold(at: past.moments[index].sequence)
      fold.settle(state)
      return Self.rows(state.state)
    }
    for index in 0..<5 { #expect(try state(at: index) == past.moments[index].rows) }
    #expect(fold.file.length > 0)
    // The files without a name that can be read no longer, and what is written to them after that was noticed.
    let lost = Lock((paths: Set<String>(), isNoticed: false, writeCount: 0))
    disk.onOperation { call in
      let isNameless = call.path.hasPrefix(StateStore.layout.states) && !disk.paths.contains(call.path)
      return lost.withLock { lost in
        guard isNameless, lost.paths.contains(call.path) || !lost.isNoticed else { return .proceed }
        if call.operation == .read {
          lost.paths.insert(call.path)
          return .fail(SystemErrorCode.inputOutput)
        }
        if call.operation == .write, lost.isNoticed { lost.writeCount += 1 }
        return .proceed
      }
    }
    #expect(try state(at: 5) == past.moments[5].rows)
    lost.withLock { $0.isNoticed = true }
    for index in 6..<past.moments.count { #expect(try state(at: index) == past.moments[index].rows) }
    #expect(lost.withLock { $0.paths.count } > 0 && lost.withLock { $0.writeCount } == 0)
    disk.onOperation(nil)
    try store.closeBlocking()
  }
}
