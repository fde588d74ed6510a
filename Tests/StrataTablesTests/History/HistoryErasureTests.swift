// Erasures and full disks: a history gives way to both, and begins anew.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct HistoryErasureTests {
  private typealias Secret = SecretHistory

  private enum SecretHistory {
    static let secret = Array("secret-4711".utf8)
    static let erasure = Erasure(streams: ["person/9"], because: "asked to")

    static func holders(_ disk: SimulatedDisk, in paths: [String]? = nil) -> [String] {
      (paths ?? disk.paths).filter { path in
        guard let bytes = disk.contents(path) else { return false }
        return bytes.indices.contains { bytes[$0] == secret[0] && bytes[$0...].starts(with: secret) }
      }
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
        guard number == 11 else { continue }
        try store.put("9", in: "person", ["t": .string(String(decoding: secret, as: UTF8.self))])
      }
      return store
    }

    static func check(_ store: EventStore, _ disk: SimulatedDisk, _ what: String) throws {
      #expect(holders(disk) == [], "\(what)")
      let historian = try #require(store.projector(StateStore.documents).historian)
      try historian.recordBlocking()
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

  @Test func `runs that are written during any call of an erasure are not used after it`() throws {
    var written = 0
    for number in 1...400 {
      let disk = SimulatedDisk()
      let store = try Secret.fill(disk)
      let historian = store.projector(StateStore.documents).historian!
      let calls = Lock(number)
      disk.onOperation { call in
        // Between the files of the log no lock is held that a historian needs.
        guard
          call.path.hasSuffix(StoreLayout.temporarySuffix) || call.path.hasPrefix(StateStore.layout.derived)
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
    var finished = 0
    for change in 1...count {
      let disk = origin.clone()
      store = try StateStore.open(disk, options: Secret.options())
      _ = store.projector(StateStore.documents).historian!.runs()
      disk.cutPower(atChange: change)
      #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
      let after = disk.crash(seed: random.next(), model: change % 2 == 0 ? .reorder : .lossless)
      let again = try StateStore.open(after, options: Secret.options())
      if try !again.eventsBlocking(in: "$erasures", limit: 9).isEmpty {
        finished += 1
        try Secret.check(again, after, "change \(change) of \(count)")
      }
      try again.closeBlocking()
    }
    #expect(finished > count / 3)
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
