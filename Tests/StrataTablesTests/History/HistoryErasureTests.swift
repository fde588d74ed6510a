// Erasures and full disks: a history gives way to both, and begins anew.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryErasureTests {
  private typealias Secret = SecretHistory

  private enum SecretHistory {
    static let secret = Array("secret-4711".utf8)
    static let erasure = Erasure(streams: ["person/9"], because: "asked to")
    /// A kept list that has the secret in the name of a section and in a key.
    static let list = (
      table: "person",
      definition: ViewDefinition(
        identity: ViewIdentity("by text"), sectionOrder: .key, declared: [], calls: .keys,
        kept: KeptView(name: "by text", identity: "", fingerprint: 1)
      ) { (row, writer) throws(RowProblem) in
        let fields: DocumentValue
        do throws(CodecError) { fields = try DocumentValue(cbor: row.document) } catch {
          throw RowProblem(what: "\(error)")
        }
        var (text, number): (String?, Int64?) = (nil, nil)
        if case .string(let value)? = fields["t"] { text = value }
        if case .int(let value)? = fields["n"] { number = value }
        writer.append(text)
        let section = writer.count
        writer.append(number)
        writer.append(text)
        return PlacedLengths(section: section)
      }
    )
    /// The last event without the secret, the two that put it, and one after each. The list is looked at after these
    /// and at the end of the history.
    static let moments: [UInt64] = [12, 13, 16, 20, 21]
    /// How many times the list shows the secret then, until it is erased.
    static let shownCount = 5

    static func holders(_ disk: SimulatedDisk, in paths: [String]? = nil) -> [String] {
      (paths ?? disk.paths).filter { disk.contents($0).map { $0.contains(bytes: secret) } ?? false }
    }

    static func options() -> StoreOptions {
      var options = StateStore.options()
      options.segmentSizeTarget = 2_000
      options.history = .all
      options.runLimits.changeCountMax = 4
      options.runLimits.laggingCount = 1
      options.runLimits.mergedCount = 2
      options.runLimits.baseChangeCountMin = 14
      return options
    }

    static func fill(_ disk: SimulatedDisk) throws -> EventStore {
      let store = try StateStore.open(disk, options: options())
      for number in 0..<24 {
        try store.put("\(number % 4)", in: "person", ["n": .int(Int64(number))])
        guard number == 11 || number == 17 else { continue }
        let text = DocumentValue.string(String(decoding: secret, as: UTF8.self))
        try store.put("9", in: "person", ["t": text, "n": .int(Int64(number))])
      }
      store.projector(StateStore.documents).historian!.keep(list.definition, of: list.table)
      return store
    }

    /// Whether a row, a key or a section of a state and its list has the secret.
    private static func isShown(in state: TableSet) -> Bool {
      var bytes: [UInt8] = []
      for table in state.tables {
        table.forEachRow { bytes += Array($0.document) }
        for view in table.views {
          view.items.forEach(in: 0..<view.items.count) { key, value in bytes += Array(key) + Array(value) }
          view.sections.forEach(in: 0..<view.sections.count) { key, _ in bytes += Array(key) }
        }
      }
      return bytes.indices.contains { bytes[$0] == secret[0] && bytes[$0...].starts(with: secret) }
    }

    /// The past of the list is that of a replay: its sections, pages and ranks at some moments, and what changed from
    /// each to the next and back. Returns how many of these moments show the secret.
    static func checkList(_ store: EventStore, _ what: String) throws -> Int {
      let historian = try #require(store.projector(StateStore.documents).historian)
      try #require(historian.end > moments.last!, "\(what)")
      var random = SeededGenerator(seed: store.head.sequence)
      var count = 0
      let difference = try KeptPastTests.difference(
        of: list, at: moments + [historian.end], store, StateStore.documents, &random
      ) { if isShown(in: $0) { count += 1 } }
      #expect(difference == nil, "\(what): the list")
      return count
    }

    static func check(_ store: EventStore, _ disk: SimulatedDisk, _ what: String) throws {
      #expect(holders(disk) == [], "\(what)")
      let historian = try #require(store.projector(StateStore.documents).historian)
      historian.keep(list.definition, of: list.table)
      try historian.recordBlocking()
      #expect(try checkList(store, what) == 0, "\(what): the list shows what was erased")
      #expect(holders(disk) == [], "\(what), after the history was made again")
      #expect(try HistoryStore.difference(historian.runs()!, store, StateStore.documents) == nil, "\(what)")
      #expect(historian.end + 8 > store.head.sequence)
    }
  }

  @Test func `fault 63: no run holds what was erased, also not of projections that nobody asks for`() throws {
    let disk = SimulatedDisk()
    var store = try Secret.fill(disk)
    try store.projector(StateStore.documents).historian!.recordBlocking()
    #expect(Secret.holders(disk).contains { $0.hasSuffix(StoreLayout.runSuffix) })
    #expect(try Secret.checkList(store, "before") == Secret.shownCount)
    try store.closeBlocking()
    for folder in ["elsewhere-2", "$documents-9"] {
      let parent = "\(StateStore.layout.histories)/\(folder)"
      disk.add("\(parent)/\(StoreLayout.manifestFile)", Secret.secret)
      disk.add("\(parent)/\(StoreLayout.manifestFile)-0123456789abcdef.tmp", Secret.secret)
      disk.add("\(parent)/\(StoreLayout.runFileName(7))", Secret.secret)
    }
    store = try StateStore.open(disk, options: Secret.options())
    let held = store.projector(StateStore.documents).historian!.runs()!
    try store.eraseBlocking(Secret.erasure)
    #expect(disk.historyPaths == [])
    // What was read before stays what it was; what is read now is the log's.
    #expect(held.runs.count > 1)
    #expect(store.projector(StateStore.documents).historian!.runs() == nil)
    try Secret.check(store, disk, "erased")
    try store.closeBlocking()
  }

  @Test func `fault 79: events that are erased during any call of a historian are in no file`() throws {
    var erased = 0
    for number in 1...400 {
      let disk = SimulatedDisk()
      let store = try Secret.fill(disk)
      let historian = store.projector(StateStore.documents).historian!
      let calls = Lock((left: number, error: Optional<any Error>.none, isDone: false, isHeld: false))
      disk.onOperation { call in
        guard call.path.hasPrefix(StateStore.layout.histories) else { return .proceed }
        let (isDue, isJustDone) = calls.withLock { calls in
          calls.left -= 1
          return (calls.left == 0, calls.isDone && calls.left > -60)
        }
        // From then on, not even for a moment.
        if isJustDone, Secret.holders(disk, in: disk.historyPaths) != [] {
          calls.withLock { $0.isHeld = true }
        }
        guard isDue else { return .proceed }
        do { try store.eraseBlocking(Secret.erasure) } catch { calls.withLock { $0.error = error } }
        calls.withLock { $0.isDone = true }
        return .proceed
      }
      try? historian.recordBlocking()
      disk.onOperation(nil)
      let (left, error, _, isHeld) = calls.withLock { $0 }
      #expect(error == nil && !isHeld, "call \(number)")
      if left <= 0 {
        erased += 1
        try Secret.check(store, disk, "call \(number)")
      }
      try store.closeBlocking()
      if left > 0 { break }
    }
    #expect(erased > 40)
  }

  @Test func `after an erasure a history that was given up as damaged is made again`() throws {
    let disk = SimulatedDisk()
    let store = try Secret.fill(disk)
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking()
    for _ in 0..<2 { historian.noteDamage() }
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.runs() == nil && historian.failure != nil)
    try store.eraseBlocking(Secret.erasure)
    #expect(historian.failure == nil)
    try historian.recordBlocking()
    #expect(historian.end > 0)
    try store.closeBlocking()
  }

  @Test func `runs that are written during any call of an erasure are not used after it`() throws {
    var written = 0
    for number in 1...400 {
      let disk = SimulatedDisk()
      let store = try Secret.fill(disk)
      let historian = store.projector(StateStore.documents).historian!
      let calls = Lock(number)
      disk.onOperation { call in
        // At the files of the log no lock is held that a historian needs, and at their folder a new one has its name.
        guard
          call.path.hasSuffix(StoreLayout.temporarySuffix) || call.path.hasPrefix(StateStore.layout.derived)
            || call.path == StateStore.layout.log && call.operation == .syncDirectory
        else { return .proceed }
        let isDue = calls.withLock { calls in
          calls -= 1
          return calls == 0
        }
        if isDue { try? historian.recordBlocking() }
        return .proceed
      }
      try store.eraseBlocking(Secret.erasure)
      disk.onOperation(nil)
      if calls.withLock({ $0 > 0 }) {
        try store.closeBlocking()
        break
      }
      written += 1
      // What is used now is without what was erased, and so is what is written from now on.
      if let runs = historian.runs() {
        let difference = try HistoryStore.difference(runs, store, StateStore.documents)
        #expect(difference == nil, "call \(number)")
      }
      try Secret.check(store, disk, "call \(number)")
      try store.closeBlocking()
    }
    #expect(written > 20)
  }

  @Test func `events that are folded again after an erasure are counted, and are of no history`() throws {
    let store = try Secret.fill(SimulatedDisk())
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking()
    let end = try #require(historian.runs()).end
    let folded = PastReader(store, StateStore.documents)
    _ = try folded.fold(at: end)
    #expect(folded.counts == PastCounts(states: 1, fromHistory: 1))
    try store.eraseBlocking(Secret.erasure)
    let head = store.head.sequence
    _ = try folded.fold(at: head)
    #expect(folded.counts == PastCounts(states: 2, fromHistory: 1, foldedEvents: head))
    try store.closeBlocking()
  }

  @Test func `an erasure that was cut short at any call is finished by the next open`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let origin = SimulatedDisk()
    var store = try Secret.fill(origin)
    try store.projector(StateStore.documents).historian!.recordBlocking()
    try store.closeBlocking()
    let counted = origin.clone()
    store = try StateStore.open(counted, options: Secret.options())
    _ = store.projector(StateStore.documents).historian!.runs()
    let count = try counted.changeCount { try store.eraseBlocking(Secret.erasure) }
    var (finished, unerased) = (0, 0)
    for change in 1...count {
      let disk = origin.clone()
      store = try StateStore.open(disk, options: Secret.options())
      _ = store.projector(StateStore.documents).historian!.runs()
      disk.cutPower(atChange: change)
      #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
      let after = disk.crash(seed: random.next(), model: change % 2 == 0 ? .reorder : .lossless)
      let again = try StateStore.open(after, options: Secret.options())
      let what = "change \(change) of \(count)"
      if try !again.eventsBlocking(in: "$erasures", limit: 9).isEmpty {
        finished += 1
        try Secret.check(again, after, what)
      } else {
        // Nothing was erased: the list is still that of before.
        unerased += 1
        let historian = try #require(again.projector(StateStore.documents).historian)
        historian.keep(Secret.list.definition, of: Secret.list.table)
        try historian.recordBlocking()
        #expect(try Secret.checkList(again, what) == Secret.shownCount, "\(what)")
      }
      try again.closeBlocking()
    }
    #expect(finished > count / 3 && unerased > 0, "\(finished) and \(unerased) of \(count)")
  }

  @Test func `fault 82: on a full disk a history gives way to an append, and is made again later`() throws {
    let disk = SimulatedDisk()
    var options = Secret.options()
    options.fullDiskPause = .zero
    let store = try StateStore.open(disk, options: options)
    for number in 0..<60 {
      try store.put("\(number % 7)", in: "person", ["n": .int(Int64(number))])
    }
    let historian = store.projector(StateStore.documents).historian!
    try historian.recordBlocking()
    #expect(historian.end > 50)
    disk.capacity = disk.usedSize + 10
    try store.put("1", in: "person", ["n": 1_000])
    #expect(disk.historyPaths == [] && historian.end == 0)
    let then = try store.statesBlocking(at: [.sequence(30)], StateStore.documents)[0]
    #expect(then["person"].count == 7)
    disk.capacity = nil
    try historian.recordBlocking()
    #expect(try HistoryStore.difference(historian.runs()!, store, StateStore.documents) == nil)
    #expect(historian.end > 50)
    try store.closeBlocking()
  }
}
