// Readers of derived files that their writer replaces and removes meanwhile.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct DerivedReaderTests {
  /// A writer that writes again and again, so that the files of before go.
  private final class Writer: Sendable {
    private struct State {
      var store: EventStore
      var events: StateEvents
    }

    let kind: any DerivedKind
    let disk: SimulatedDisk
    private let state: Lock<State>

    init(_ kind: any DerivedKind, _ disk: SimulatedDisk, seed: UInt64) throws {
      (self.kind, self.disk) = (kind, disk)
      state = Lock(State(store: try kind.open(disk), events: StateEvents(seed: seed)))
    }

    var store: EventStore { state.withLock { $0.store } }

    /// Appends and writes. Rows that are all new leave no page of the files before alive.
    func resume(isNew: Bool) throws {
      var (store, events) = state.withLock { ($0.store, $0.events) }
      if isNew {
        try store.closeBlocking()
        store = try kind.open(disk)
      }
      for number in 0..<6 { try store.put("\(number)", ["t": .string(events.text())]) }
      for _ in 0..<3 { try events.append(to: store) }
      try kind.write(store)
      state.withLock { ($0.store, $0.events) = (store, events) }
    }
  }

  /// A disk with a store that two processes have written to.
  private static func disk(_ kind: any DerivedKind, seed: UInt64) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let writer = try Writer(kind, disk, seed: seed)
    try writer.resume(isNew: false)
    try writer.resume(isNew: true)
    try writer.store.closeBlocking()
    return disk
  }

  /// Reads what there is. Returns its end.
  private func end(
    _ kind: any DerivedKind, _ reader: EventStore, _ folding: Folding, _ what: String
  ) throws -> UInt64 {
    let reading = try kind.read(reader, folding, nil)
    #expect(reading.difference == nil && reading.lostCount == 0, "\(what)")
    return reading.end
  }

  @Test(arguments: derivedKinds, [false, true])
  func `fault 64, 80: a reader whose writer writes during any of its calls answers right`(
    _ kind: any DerivedKind, isNew: Bool
  ) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("\(kind.name), isNew \(isNew)"))
    let runs = StateRuns(170)
    var (found, walks) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      let origin = try Self.disk(kind, seed: seed)
      var number = 0
      while true {
        number += 1
        runs.add()
        let what = "seed \(seed), call \(number)"
        let disk = origin.clone()
        let (isLast, isFound) = try write(kind, disk, atCall: number, isNew: isNew, random.next(), what)
        found += isFound ? 1 : 0
        #expect(disk.isClosed, "\(what): \(disk.openFileCount) files are open")
        if isLast { break }
      }
      #expect(number > 15)
      walks += 1
    }
    #expect(found + 3 * walks > runs.count, "\(found) of \(runs.count)")
  }

  /// Reads, while the writer writes during a call. Returns whether there was no such call, and whether anything was used.
  private func write(
    _ kind: any DerivedKind, _ disk: SimulatedDisk, atCall number: Int, isNew: Bool, _ seed: UInt64,
    _ what: String
  ) throws -> (isLast: Bool, isFound: Bool) {
    let writer = try Writer(kind, disk, seed: seed)
    let reader = try StateStore.open(disk, .readOnly, options: kind.options())
    let step = disk.during(call: number) {
      for _ in 0..<number % 3 + 1 { try writer.resume(isNew: isNew) }
    }
    let isFound = try end(kind, reader, StateStore.documents, what) > 0
    disk.onOperation(nil)
    #expect(step.failure == nil, "\(what)")
    #expect(try end(kind, reader, StateStore.tally, "\(what), afterwards") > 0)
    try reader.closeBlocking()
    try writer.store.closeBlocking()
    return (!step.isDue, isFound)
  }

  @Test(arguments: derivedKinds)
  func `fault 64: a reader that opens during any call of a write answers right, and finds something`(
    _ kind: any DerivedKind
  ) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(170)
    while runs.isShort {
      let seed = random.next()
      let disk = try Self.disk(kind, seed: seed)
      let writer = try Writer(kind, disk, seed: seed)
      let calls = Lock((count: 0, found: 0, isReading: false))
      disk.onOperation { call in
        guard call.path.hasPrefix(kind.root) else { return .proceed }
        let isDue = calls.withLock { calls in
          defer { calls.isReading = true }
          return !calls.isReading
        }
        guard isDue else { return .proceed }
        let what = "seed \(seed), \(call.operation) of \(call.path)"
        do {
          let reader = try StateStore.open(disk, .readOnly, options: kind.options())
          for folding in kind.foldings {
            let end = try self.end(kind, reader, folding, what)
            calls.withLock { $0.found += end > 0 ? 1 : 0 }
          }
          try reader.closeBlocking()
        } catch { Issue.record("\(what): \(error)") }
        calls.withLock { calls in
          calls.count += 1
          calls.isReading = false
        }
        return .proceed
      }
      for round in 0..<4 { try writer.resume(isNew: round % 2 == 1) }
      disk.onOperation(nil)
      let (count, found, _) = calls.withLock { $0 }
      #expect(count > 100 && found == 2 * count, "seed \(seed): \(found) of \(count)")
      try writer.store.closeBlocking()
      runs.add(count)
    }
  }

  @Test(arguments: derivedKinds)
  func `a reader changes nothing on the disk, and its checkpoint is refused`(_ kind: any DerivedKind)
    async throws
  {
    let disk = try Self.disk(kind, seed: 7)
    let files = disk.paths.map { ($0, disk.contents($0)!) }
    let changes = Lock<[String]>([])
    disk.onOperation { call in
      if call.operation.isChange, call.operation != .open, call.operation != .sync {
        changes.withLock { $0.append("\(call.operation) of \(call.path)") }
      }
      return .proceed
    }
    let reader = try kind.open(disk, .readOnly)
    #expect(try await kind.difference(reader) == nil)
    #expect(try kind.ends(reader, "a reader").allSatisfy { $0 == reader.head.sequence })
    #expect(throws: StoreError.readOnly) { try reader.checkpointBlocking() }
    try reader.closeBlocking()
    disk.onOperation(nil)
    #expect(changes.withLock { $0 } == [])
    #expect(disk.paths == files.map(\.0) && files.allSatisfy { disk.contents($0.0) == $0.1 })
  }
}
