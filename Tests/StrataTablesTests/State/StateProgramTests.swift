// Programs that know different lists take turns with one store, while another process reads it.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// One of the programs that use a store, and what it has of it in memory.
private final class Program {
  /// A state that the program keeps, and what it held when it was new.
  private struct Held {
    var set: TableSet
    var tables: [StateAnswers.Table]
  }

  let store: EventStore
  private let lists: [ViewDefinition]
  private var leases: [ViewLease] = []
  private var held: [Held] = []
  /// The number of states that came from disk, and of lists that did.
  private(set) var restored = (states: 0, lists: 0)

  init(_ store: EventStore, _ lists: [ViewDefinition]) {
    self.store = store
    self.lists = lists
  }

  /// The lists that a program knows: some that only it does, one that both do, and one of which each has its own
  /// definition under the same name.
  static func lists(_ number: Int) -> [ViewDefinition] {
    let own = ["first": SectionOrder.first, "count": .count, "key": .key, "descending": .keyDescending]
      .sorted { $0.key < $1.key }.dropFirst(2 * number).prefix(2)
      .map { StateKeptViewTests.definition($0.key, $0.value) }
    let both = StateKeptViewTests.definition("both", .key, identity: "of both")
    return own + [both, StateKeptViewTests.definition("disputed", modulus: Int64(2 + number))]
  }

  /// Compares the newest state, and some of the lists over it, with the log.
  func check(_ folding: Folding, _ random: inout SeededGenerator, _ what: String) async throws {
    guard store.head.sequence > 0 else { return }
    let projector = store.projector(folding)
    let isFirst = projector.published.sequence == 0
    var set = try await projector.state(reaching: store.head.sequence)
    if isFirst, projector.checkpoints?.savedSequence != nil { restored.states += 1 }
    // A list is asked for by itself: the next one's state may lack it, where a damaged page made the fold begin again.
    var asked: [(list: ViewDefinition, set: TableSet)] = []
    if case .documents = folding {
      for list in lists where Bool.random(using: &random) {
        if set["a"].savedViews.contains(where: { $0.kept == list.kept }) { restored.lists += 1 }
        let lease = projector.lease(list, of: "a")
        set = try await projector.state(reaching: store.head.sequence, with: lease)
        leases.append(lease)
        asked.append((list, set))
      }
    }
    let fold = Fold(store.log, folding)
    try fold.run(through: set.sequence)
    let answers = try StateAnswers(set, of: store)
    let difference = try answers.difference(from: StateAnswers(fold.state, of: store))
    #expect(difference == nil, "\(what)")
    for (list, set) in asked {
      #expect(set.sequence == fold.state.sequence, "\(what)")
      let view = try #require(set["a"].view(list.identity), "\(what)")
      let new = View(list, of: fold.state["a"], on: .none)
      #expect(
        StateKeptViewTests.content(view) == StateKeptViewTests.content(new),
        "\(what), the list \(list.kept?.name ?? "")")
      #expect(view.checkSections() == nil, "\(what)")
    }
    if held.count < 3, Bool.random(using: &random) { held.append(Held(set: set, tables: answers.tables)) }
  }

  /// What is kept is as it was.
  func checkHeld(_ what: String) {
    for held in held {
      let tables = held.set.tables.filter(\.isWritten).map(StateAnswers.Table.init)
      #expect(tables == held.tables, "\(what): the state of \(held.set.sequence) has changed")
    }
  }
}

/// A store with two programs that write, one after the other, and one that reads.
private struct ProgramHistory {
  private let name: String
  private(set) var disk = SimulatedDisk()
  private var writer: Program
  private var reader: Program?
  private var events: StateEvents
  /// Whether files of states are damaged. If not, events are erased: a state in memory that needs a damaged page needs
  /// what the log had when it was saved.
  private let damages: Bool
  /// Whether rows are so long that page files are soon more garbage than life.
  private let isLarge: Bool
  private(set) var restored = (states: 0, lists: 0)
  private(set) var removedFiles = 0
  private(set) var faults = 0

  init(seed: UInt64) throws {
    name = "history \(seed)"
    events = StateEvents(seed: seed)
    damages = Bool.random(using: &events.random)
    isLarge = Int.random(in: 0..<8, using: &events.random) == 0
    writer = Program(try StateStore.open(disk), Program.lists(0))
  }

  mutating func run() async throws {
    for step in 0..<Int.random(in: 8...40, using: &events.random) { try await take("\(name), step \(step)") }
    try await read("\(name), at the end")
    try finish(writer)
    try writer.store.closeBlocking()
    try closeReader()
    for number in 0..<2 {
      writer = Program(try StateStore.open(disk), Program.lists(number))
      try await check("\(name), program \(number) at the end")
      try finish(writer)
      try writer.store.closeBlocking()
    }
  }

  private mutating func take(_ what: String) async throws {
    switch Int.random(in: 0..<20, using: &events.random) {
    case 0..<5:
      for _ in 0..<Int.random(in: 1...6, using: &events.random) { try events.append(to: writer.store) }
    case 5..<8: try rewrite()
    case 8..<11: try checkpoint()
    case 11..<13: try await check(what)
    case 13..<16: try await read(what)
    case 16: try restart()
    case 17: try await suspend(what)
    case 18: try damages ? damage() : erase()
    case 19 where Bool.random(using: &events.random): try fillDisk()
    default:
      let held = (writer, reader)
      held.0.checkHeld(what)
      held.1?.checkHeld(what)
      if Int.random(in: 0..<3, using: &events.random) == 0 { try closeReader() }
    }
  }

  /// Replaces all rows of a table, so that page files have nothing left that is alive.
  private mutating func rewrite() throws {
    for number in 0..<8 {
      let text = isLarge ? (0..<9).map { _ in events.text() + events.text() }.joined() : events.text()
      try writer.store.put("\(number)", ["n": .int(Int64(number)), "t": .string(text)])
    }
  }

  private mutating func checkpoint() throws {
    guard writer.store.head.sequence > 0 else { return }
    let before = Set(disk.pageFiles())
    _ = writer.store.projector(StateStore.tally)
    try writer.store.checkpointBlocking()
    removedFiles += before.subtracting(disk.pageFiles()).count
  }

  private mutating func check(_ what: String) async throws {
    for folding in [StateStore.documents, StateStore.tally] {
      try await writer.check(folding, &events.random, "the writer, \(what)")
    }
  }

  private mutating func read(_ what: String) async throws {
    guard writer.store.head.sequence > 0 else { return }
    let reader =
      try self.reader
      ?? Program(
        StateStore.open(disk, .readOnly), Program.lists(Int.random(in: 0..<2, using: &events.random)))
    self.reader = reader
    try reader.store.log.refresh()
    for folding in [StateStore.documents, StateStore.tally] {
      try await reader.check(folding, &events.random, "the reader, \(what)")
    }
  }

  private mutating func finish(_ program: Program) throws {
    program.checkHeld("\(name), when it ends")
    restored.states += program.restored.states
    restored.lists += program.restored.lists
    for folding in [StateStore.documents, StateStore.tally] {
      faults += program.store.projector(folding).checkpoints?.faults.count ?? 0
    }
  }

  private mutating func closeReader() throws {
    guard let reader else { return }
    try finish(reader)
    try reader.store.closeBlocking()
    self.reader = nil
  }

  /// Ends the process that writes, and begins one of either program.
  private mutating func restart() throws {
    try finish(writer)
    let model: CrashModel? = [nil, nil, .lossless, .reorder, .dropAll].randomElement(using: &events.random)!
    if let model {
      try closeReader()
      disk = disk.crash(seed: events.random.next(), model: model)
    } else {
      try writer.store.closeBlocking()
    }
    writer = Program(
      try StateStore.open(disk), Program.lists(Int.random(in: 0..<2, using: &events.random)))
  }

  /// Suspends the process that writes, while one of the other program does something.
  private mutating func suspend(_ what: String) async throws {
    let suspended = writer
    try suspended.store.suspendBlocking()
    writer = Program(try StateStore.open(disk), Program.lists(Int.random(in: 0..<2, using: &events.random)))
    for _ in 0..<Int.random(in: 1...3, using: &events.random) {
      switch Int.random(in: 0..<4, using: &events.random) {
      case 0: try rewrite()
      case 1: try checkpoint()
      case 2: try await check("\(what), beside a suspended one")
      default: try await read("\(what), beside a suspended one")
      }
    }
    try finish(writer)
    try writer.store.closeBlocking()
    writer = suspended
    try writer.store.resumeBlocking()
  }

  private mutating func erase() throws {
    let last = writer.store.head.sequence
    guard last > 0 else { return }
    let first = UInt64.random(in: 1...last, using: &events.random)
    try writer.store.eraseBlocking(Erasure(sequences: [first...min(last, first + 3)], because: "asked to"))
    #expect(disk.statePaths == [], "\(name)")
  }

  /// Appends while the disk is full, so that states give way.
  private mutating func fillDisk() throws {
    disk.capacity = disk.usedSize + Int.random(in: 0..<500, using: &events.random)
    defer { disk.capacity = nil }
    let text = events.text() + String(repeating: "z", count: 600)
    do {
      try writer.store.appendAny([
        NewEvent(DocumentEvent.put, in: "a/1", payload: EventPayload(["n": 1, "t": .string(text)]))
      ])
    } catch let error as StoreError {
      // Without states there may be no room even so.
      guard case .full = error else { throw error }
    }
  }

  /// Damages or deletes some files of states, or all of them, under the processes that use them.
  private mutating func damage() throws {
    let deletesAll = Int.random(in: 0..<5, using: &events.random) == 0
    for path in disk.statePaths where deletesAll || Bool.random(using: &events.random) {
      let size = disk.contents(path)!.count
      switch deletesAll ? 0 : Int.random(in: 0..<6, using: &events.random) {
      case 0: disk.delete(path)
      case 1 where size > 0:
        disk.replace(
          path, Array(disk.contents(path)!.prefix(Int.random(in: 0..<size, using: &events.random))))
      case _ where size > 0:
        for _ in 0..<Int.random(in: 1...max(1, size / 500), using: &events.random) {
          disk.flipBit(path, Int.random(in: 0..<8 * size, using: &events.random))
        }
      default: break
      }
    }
  }
}

@Suite struct StateProgramTests {
  @Test
  func
    `two programs that know different lists, and one that reads, always find the log, whatever happens to files`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    var (states, lists, removed, faults) = (0, 0, 0, 0)
    while runs.next() {
      let seed = random.next()
      let disk: SimulatedDisk
      do {
        var history = try ProgramHistory(seed: seed)
        try await history.run()
        states += history.restored.states
        lists += history.restored.lists
        removed += history.removedFiles
        faults += history.faults
        disk = history.disk
      } catch {
        Issue.record("history \(seed): \(error)")
        continue
      }
      #expect(disk.isClosed, "history \(seed): \(disk.openFileCount) files are open, and no store is left")
    }
    print("\(states) states and \(lists) lists from disk, \(removed) page files removed, \(faults) bad pages")
    #expect(states > runs.count && lists > runs.count && removed > runs.count / 4 && faults > 0)
  }
}
