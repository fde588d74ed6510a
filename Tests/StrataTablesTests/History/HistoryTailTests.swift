// The events that are in no run yet: reads find them in memory, and a close writes them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryTailTests {
  @Test func `fault 92: a kept list at every sequence after the runs is that of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (inMemory, withoutRuns, dropped) = (0, 0, 0)
    while runs.next() {
      let changeCountMax = Int.random(in: 5...60, using: &random)
      var past = try KeptPastTests.Past(&random, appends: 3...20, changeCountMax: changeCountMax)
      let historian = past.historian
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        for _ in 0..<Int.random(in: 1...9, using: &random) { try past.events.append(to: past.store) }
        if Bool.random(using: &random) { try historian.recordBlocking() }
        let states = try HistoryStore.replayed(past.store, past.folding)
        let last = past.store.head.sequence
        let sequence = UInt64.random(in: 1...last, using: &random)
        guard let set = historian.runs(through: sequence), set.end >= sequence else {
          withoutRuns += 1
          continue
        }
        // What is before them is looked at by other tests at every sequence, and here at a few.
        let first = max(set.begin, historian.end - min(historian.end, 2)) + 1
        let before = (0..<3).map { _ in UInt64.random(in: set.begin + 1...set.end, using: &random) }
        for sequence in before + Array(first...set.end) {
          let state = try past.unread(sequence)
          let difference = try past.difference(state, from: states[Int(sequence)])
          #expect(difference == nil, "run \(runs.count), at \(sequence) of \(set.end)")
          if difference != nil { return }
          inMemory += sequence > historian.end ? 1 : 0
        }
        // A run that is written takes the place of what was in memory.
        guard set.end > historian.end else { continue }
        try historian.recordBlocking(writesRest: Bool.random(using: &random))
        if historian.end >= set.end {
          dropped += 1
          #expect(historian.state.withLock { $0.tail } == nil)
        }
      }
      try past.store.closeBlocking()
    }
    #expect(inMemory > 3 * runs.count && dropped > runs.count / 8, "\(inMemory), \(dropped), \(withoutRuns)")
  }

  @Test func `fault 93: a close writes the last events, and the next process reads them`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(isLight: true)
    while runs.next() {
      var past = try KeptPastTests.Past(&random)
      for _ in 0..<Int.random(in: 1...9, using: &random) { try past.events.append(to: past.store) }
      try past.historian.recordBlocking()
      let last = past.store.head.sequence
      try past.store.closeBlocking()
      let store = try StateStore.open(past.disk, options: past.store.log.options)
      let historian = try #require(store.projector(past.folding).historian)
      let set = try #require(historian.runs())
      #expect(set.end == last, "run \(runs.count)")
      #expect(try HistoryStore.difference(set, store, past.folding) == nil, "run \(runs.count)")
      try store.closeBlocking()
    }
  }

  @Test func `a list of the past folds no event that is near the end of the runs`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var options = StateStore.options()
    options.history = .all
    // The states that are kept on the way stay in memory.
    options.unsavedSize = 64 << 20
    let store = try StateStore.open(SimulatedDisk(), options: options)
    let historian = try #require(store.projector(StateStore.documents).historian)
    let definition = StateKeptViewTests.definition("kept", .key, calls: .none)
    var events = StateEvents(seed: random.next())
    for _ in 0..<300 { try events.append(to: store) }
    let states = PastStates(store, StateStore.documents, view: ("b", definition))
    let head = store.head.sequence
    _ = try states.state(at: head)
    #expect(historian.end == 0 && historian.runs(through: head)?.end == head)
    for sequence in [head, 100, head / 2, head - 1] {
      let before = states.counts.foldedEvents
      _ = try states.state(at: sequence)
      #expect(states.counts.foldedEvents == before, "at \(sequence) of \(head)")
    }
    // A few more are folded, and no run is made for them.
    try store.put("x", in: "b", ["n": 1])
    let tail = try #require(historian.state.withLock { $0.tail })
    let before = states.counts.foldedEvents
    _ = try states.state(at: head + 1)
    #expect(states.counts.foldedEvents == before + 1)
    #expect(historian.state.withLock { $0.tail }?.reader === tail.reader)
    try store.closeBlocking()
  }

  @Test func `fault 106: what is in memory has a bound while nothing can be written`() throws {
    var options = StateStore.options()
    options.history = .all
    options.runLimits.changeCountMax = 8
    let store = try StateStore.open(SimulatedDisk(), options: options)
    let historian = try #require(store.projector(StateStore.documents).historian)
    for number in 0..<20 { try store.put("\(number)", in: "b", ["n": .int(Int64(number))]) }
    try historian.recordBlocking()
    try #require(store.log.derivedSpace).lacksRoom(for: .max)
    for number in 0..<100 {
      try store.put("x", in: "b", ["n": .int(Int64(number))])
      let runs = try #require(historian.runs(through: store.head.sequence))
      #expect(runs.runs.last.map { $0.root.counts.changes <= 16 } == true)
    }
    try store.closeBlocking()
  }

  @Test func `a process that reads a log without a history and ends at once begins one`() throws {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(disk, options: options)
    for number in 0..<20 { try store.put("\(number)", in: "b", ["n": .int(Int64(number))]) }
    let historian = try #require(store.projector(StateStore.documents).historian)
    // As when a list is shown. This disk allows no second thread.
    historian.state.withLock { $0.isWanted = true }
    try store.closeBlocking()
    let again = try StateStore.open(disk, options: options)
    #expect(again.projector(StateStore.documents).historian?.runs()?.end == 20)
    try again.closeBlocking()
  }

  @Test func `fault 105: no thread looks into the history's folder from a suspension on`() async throws {
    var options = StoreOptions()
    options.history = .all
    let disk = MemoryFileSystem()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    let projector = store.projector(StateStore.documents)
    let historian = try #require(projector.historian)
    for number in 0..<40 {
      try store.put("\(number)", in: "b", ["n": .int(Int64(number))])
      _ = try await projector.state(reaching: store.head.sequence)
      historian.start()
      try await store.suspend()
      for _ in 0..<3 {
        #expect(historian.state.withLock { !$0.isRunning && !$0.isStopping && $0.runs == nil })
        await Task.yield()
      }
      try await store.resume()
    }
    try await store.close()
    let again = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    let runs = try #require(again.projector(StateStore.documents).historian?.runs())
    #expect(try HistoryStore.difference(runs, again, StateStore.documents) == nil)
    try await again.close()
  }

  @Test func `fault 92: what is in memory is forgotten with an erasure`() throws {
    let store = try StateStore.open(
      SimulatedDisk(),
      options: {
        var options = StateStore.options()
        options.history = .all
        return options
      }())
    let historian = try #require(store.projector(StateStore.documents).historian)
    for number in 0..<20 { try store.put("\(number % 4)", in: "b", ["secret": .int(Int64(number))]) }
    let before = try #require(historian.runs(through: 20))
    #expect(before.end == 20)
    try store.eraseBlocking(Erasure(streams: ["b/3"], because: "asked to"))
    #expect(historian.state.withLock { $0.tail } == nil)
    let after = try #require(historian.runs(through: 20))
    #expect(after.erasures != before.erasures)
    #expect(try HistoryStore.difference(after, store, StateStore.documents) == nil)
    try store.closeBlocking()
  }

  @Test func `fault 92: what is in memory is not used if events were erased while it was made`() throws {
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(SimulatedDisk(), options: options)
    let erasure = Lock((isDue: false, error: Optional<any Error>.none))
    // The list is asked where it has a row while the run in memory is written, after all events were folded.
    let definition = ViewDefinition(
      identity: ViewIdentity("erases"), sectionOrder: .key, declared: [], calls: .keys,
      kept: KeptView(name: "erases", identity: "", fingerprint: 1)
    ) { (row, writer) throws(RowProblem) in
      let isNow = erasure.withLock { erasure in
        defer { erasure.isDue = false }
        return erasure.isDue
      }
      if isNow {
        do { try store.eraseBlocking(Erasure(streams: ["b/3"], because: "asked to")) } catch {
          erasure.withLock { $0.error = error }
        }
      }
      writer.append(row.document.count)
      return PlacedLengths(section: writer.count)
    }
    let historian = try #require(store.projector(StateStore.documents).historian)
    historian.keep(definition, of: "b")
    for number in 0..<20 { try store.put("\(number % 4)", in: "b", ["secret": .int(Int64(number))]) }
    erasure.withLock { $0.isDue = true }
    #expect(historian.runs(through: 20) == nil)
    let (isDue, error) = erasure.withLock { $0 }
    #expect(!isDue && error == nil)
    #expect(historian.state.withLock { $0.tail } == nil)
    // There are no runs, so what was made would begin where they end.
    let after = try #require(historian.runs(through: 20))
    #expect(try HistoryStore.difference(after, store, StateStore.documents) == nil)
    try store.closeBlocking()
  }
}
