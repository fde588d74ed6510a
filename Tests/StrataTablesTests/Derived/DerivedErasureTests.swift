// Erasures: once one is done, no derived file holds what it erased, whatever happens at the same time.

internal import Dispatch
internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct DerivedErasureTests {
  private typealias Secret = SecretStore

  /// The secret is in no file, now, after a write and after a close, and all answers are those of the log.
  private func check(_ kind: any DerivedKind, _ store: EventStore, _ disk: SimulatedDisk, _ what: String)
    async throws
  {
    #expect(Secret.holders(disk) == [], "\(what)")
    #expect(try await kind.difference(store) == nil, "\(what)")
    try kind.write(store)
    #expect(Secret.holders(disk) == [], "\(what), written")
    let head = store.head.sequence
    try store.closeBlocking()
    #expect(Secret.holders(disk) == [], "\(what), closed")
    let again = try kind.openSecret(disk)
    #expect(try kind.ends(again, "\(what), opened again").allSatisfy { $0 == head }, "\(what), opened again")
    #expect(try await kind.difference(again) == nil, "\(what), opened again")
    try again.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `fault 63: no file holds what was erased, also not of projections that nobody asks for`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try kind.secretDisk()
    for folding in kind.foldings {
      #expect(!Secret.holders(disk, in: kind.folder(folding)).isEmpty, "\(kind.folder(folding))")
    }
    // A projection of another program, and a version that this one does not have.
    for folder in ["elsewhere-2", "$documents-9", "elsewhere-2-touches"] {
      for file in [kind.headFile, kind.dataFile(7)] {
        disk.add("\(kind.root)/\(folder)/\(file)", Secret.secret)
      }
    }
    let store = try StateStore.open(disk, options: kind.secretOptions())
    try store.eraseBlocking(Secret.erasure)
    #expect(kind.paths(disk) == [])
    for folding in kind.foldings { kind.begin(store, folding) }
    try await check(kind, store, disk, "erased")
  }

  @Test(arguments: derivedKinds)
  func `fault 63, 79: events that are erased during any call of a write are in no file, then and later`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(125)
    var kinds: [Bool: Int] = [:]
    while runs.isShort {
      let seed = random.next()
      let isContinued = Bool.random(using: &random)
      let origin = try kind.secretDisk(StateEvents(seed: seed), isWritten: isContinued)
      var number = Int.random(in: -3...0, using: &random)
      while true {
        number += 4
        runs.add()
        let what = "seed \(seed), call \(number) of a write, continued: \(isContinued)"
        let disk = origin.clone()
        let store = try kind.openSecret(disk)
        #expect(try await kind.difference(store) == nil, "\(what)")
        try store.put("8", in: "person", ["n": 1])
        let (isDone, isHeld) = (Lock(0), Lock(false))
        let erasure = disk.during(call: number, in: kind.root) {
          _ = try store.eraseBlocking(Secret.erasure)
          isDone.withLock { $0 = 60 }
        } later: {
          // Not even for a moment.
          let isDue = isDone.withLock { left in
            left -= 1
            return left >= 0
          }
          if isDue, Secret.holders(disk, in: kind.root) != [] { isHeld.withLock { $0 = true } }
        }
        let isWritten = (try? kind.write(store)) != nil
        disk.onOperation(nil)
        #expect(erasure.failure == nil && !isHeld.withLock { $0 }, "\(what)")
        guard erasure.isDue else {
          try store.closeBlocking()
          break
        }
        kinds[isWritten, default: 0] += 1
        try await check(kind, store, disk, what)
      }
      #expect(number > 20)
    }
    #expect(kinds[true, default: 0] > runs.count / 4, "\(kinds)")
  }

  @Test(arguments: derivedKinds)
  func `an erasure that was cut short at any call is finished by the next open, in derived files too`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(125)
    var (finished, unerased) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      let origin = try kind.secretDisk(StateEvents(seed: seed))
      let counted = origin.clone()
      var store = try kind.openSecret(counted)
      _ = try await kind.difference(store)
      let count = try counted.changeCount { try store.eraseBlocking(Secret.erasure) }
      for change in 1...count {
        let disk = origin.clone()
        store = try kind.openSecret(disk)
        // The process has read what it will erase.
        _ = try await kind.difference(store)
        disk.cutPower(atChange: change)
        #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
        for model in change % 2 == 0 ? [CrashModel.reorder] : [.dropAll, .lossless] {
          runs.add()
          let what = "seed \(seed), change \(change) of \(count), \(model)"
          let after = disk.crash(seed: random.next(), model: model)
          let again = try kind.openSecret(after)
          if try again.eventsBlocking(in: "$erasures", limit: 9).isEmpty {
            unerased += 1
            #expect(try await kind.difference(again) == nil, "\(what)")
            try again.closeBlocking()
          } else {
            finished += 1
            try await check(kind, again, after, what)
          }
        }
      }
    }
    #expect(finished > runs.count / 3 && unerased > 0, "\(finished), \(unerased)")
  }

  @Test(arguments: derivedKinds)
  func `an erasure whose derived files cannot be removed stays open, and is finished later`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try kind.secretDisk()
    var store = try kind.openSecret(disk)
    disk.onOperation { call in
      call.path.hasPrefix(kind.root) && call.operation == .remove
        ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
    #expect(!Secret.holders(disk).isEmpty)
    disk.onOperation(nil)
    try store.closeBlocking()
    store = try kind.openSecret(disk)
    try await check(kind, store, disk, "opened again")
  }

  @Test(arguments: derivedKinds)
  func `files from before an erasure that were put back are not used`(_ kind: any DerivedKind) async throws {
    let disk = try kind.secretDisk()
    let old = kind.contents(disk)
    let store = try kind.openSecret(disk)
    try store.eraseBlocking(Secret.erasure)
    try store.closeBlocking()
    for (path, bytes) in old { disk.add(path, bytes) }
    for access in [EventStore.Access.readOnly, .readWrite] {
      let store = try kind.openSecret(disk, access)
      #expect(try kind.ends(store, "\(access)").allSatisfy { $0 == 0 }, "\(access)")
      #expect(try await kind.difference(store) == nil, "\(access)")
      try store.closeBlocking()
    }
  }

  @Test(arguments: derivedKinds)
  func `a reader that began with derived files has nothing of what its writer then erases`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try kind.secretDisk()
    let store = try kind.openSecret(disk)
    let reader = try kind.openSecret(disk, .readOnly)
    #expect(try await kind.difference(reader) == nil)
    #expect(try kind.ends(reader, "before").allSatisfy { $0 == reader.head.sequence })
    try store.eraseBlocking(Secret.erasure)
    try kind.write(store)
    try reader.log.refresh()
    #expect(reader.head == store.head)
    #expect(try await kind.difference(reader) == nil)
    #expect(try kind.ends(reader, "after").allSatisfy { $0 == reader.head.sequence })
    try reader.closeBlocking()
    try await check(kind, store, disk, "beside a reader")
  }

  @Test(arguments: derivedKinds)
  func `a backup that was used as a store has nothing of what its source erased, once it is updated`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try kind.secretDisk()
    let source = try kind.openSecret(disk)
    var backup = LogBackup(of: source.log, to: disk, path: "/backup")
    _ = try backup.run()
    func openBackup() throws -> EventStore {
      let store = try EventStore.open(disk, path: "/backup", .readWrite, options: kind.options())
      for folding in kind.foldings { kind.begin(store, folding) }
      return store
    }
    var copy = try openBackup()
    try kind.write(copy)
    try copy.closeBlocking()
    #expect(!Secret.holders(disk, in: "/backup/derived/\(kind.name)/").isEmpty)
    try source.eraseBlocking(Secret.erasure)
    backup = LogBackup(of: source.log, to: disk, path: "/backup")
    _ = try backup.run()
    #expect(Secret.holders(disk) == [])
    copy = try openBackup()
    #expect(try await kind.difference(copy) == nil)
    try copy.closeBlocking()
    try await check(kind, source, disk, "backed up")
  }

  @Test(arguments: derivedKinds)
  func `fault 63: a write and an erasure that interleave at any calls leave nothing that was erased`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(125)
    var origin = try kind.secretDisk()
    while runs.next() {
      let round = runs.count
      if round % 20 == 0 { origin = try kind.secretDisk(StateEvents(seed: random.next())) }
      let disk = origin.clone()
      let store = try kind.openSecret(disk)
      _ = try await kind.difference(store)
      try store.put("8", in: "person", ["n": 1])
      let (first, second) = (Int.random(in: 1...60, using: &random), Int.random(in: 1...160, using: &random))
      let calls = Lock((writer: Optional<Thread>.none, writing: 0, erasing: 0))
      let (paused, mayResume, written) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      disk.onOperation { _ in
        let (isWriting, number) = calls.withLock { calls in
          let isWriting = calls.writer === Thread.current
          if isWriting { calls.writing += 1 } else { calls.erasing += 1 }
          return (isWriting, isWriting ? calls.writing : calls.erasing)
        }
        if isWriting, number == first {
          paused.signal()
          mayResume.wait()
        } else if !isWriting, number == second {
          mayResume.signal()
          // Not for ever: the write may wait for what the erasure holds.
          _ = written.wait(timeout: .now() + 0.1)
        }
        return .proceed
      }
      let ended = DispatchSemaphore(value: 0)
      Thread {
        calls.withLock { $0.writer = Thread.current }
        _ = try? kind.write(store)
        for semaphore in [paused, written, ended] { semaphore.signal() }
      }.start()
      paused.wait()
      try store.eraseBlocking(Secret.erasure)
      mayResume.signal()
      ended.wait()
      disk.onOperation(nil)
      try await check(kind, store, disk, "round \(round): \(first), \(second)")
    }
  }
}
