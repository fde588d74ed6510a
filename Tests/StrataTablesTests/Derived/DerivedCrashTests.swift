// Power cuts and failing calls while derived files are written: the log goes on, and the next open answers right.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A store whose process has written derived files, and has much to write next.
struct DerivedWork {
  let disk: SimulatedDisk
  let store: EventStore
  var events: StateEvents
  /// The end of what is written.
  let end: UInt64

  /// - Parameter isNew: whether the process that goes on is not the one that wrote.
  init(_ kind: any DerivedKind, seed: UInt64, isNew: Bool, _ options: StoreOptions? = nil) throws {
    disk = SimulatedDisk()
    events = StateEvents(seed: seed)
    var store = try kind.open(disk, .readWrite, options)
    for _ in 0..<10 { try events.append(to: store) }
    try kind.write(store)
    end = store.head.sequence
    if isNew {
      try store.closeBlocking()
      store = try kind.open(disk, .readWrite, options)
    }
    for _ in 0..<6 { try events.append(to: store) }
    self.store = store
  }

  /// Makes calls for derived files fail while a body runs.
  func failing<Result>(
    _ kind: any DerivedKind, with code: Int32, _ fails: @escaping @Sendable (SimulatedCall, Int) -> Bool,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let calls = Lock(0)
    // A log that cannot be read or written is another matter.
    disk.onOperation { call in
      guard call.path.hasPrefix(kind.root) else { return .proceed }
      return calls.withLock { count in
        count += 1
        return fails(call, count) ? .fail(code) : .proceed
      }
    }
    defer { disk.onOperation(nil) }
    return try await body()
  }
}

@Suite struct DerivedCrashTests {
  @Test(arguments: derivedKinds, [false, true])
  func `fault 61, 83: after a power cut at any call of a write the next open answers right`(
    _ kind: any DerivedKind, isNew: Bool
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("\(kind.name), isNew \(isNew)"))
    let runs = StateRuns(100)
    var found = (before: 0, written: 0)
    while runs.isShort {
      let seed = random.next()
      let counted = try DerivedWork(kind, seed: seed, isNew: isNew)
      let count = try counted.disk.changeCount { try kind.write(counted.store) }
      #expect(count > 15)
      for change in 1...count {
        let work = try DerivedWork(kind, seed: seed, isNew: isNew)
        work.disk.cutPower(atChange: change)
        #expect(throws: (any Error).self) { try kind.write(work.store) }
        #expect(work.disk.isPoweredOff)
        let head = work.store.head.sequence
        for (number, model) in [CrashModel.dropAll, .reorder, .garbage, .lossless].enumerated() {
          runs.add()
          let what = "seed \(seed), change \(change), crash \(number), \(model)"
          let after = work.disk.crash(seed: random.next(), model: model)
          for end in try await kind.check(after, what, head: head) {
            // Torn sectors may hold garbage where a page was before.
            #expect(end >= work.end || model == .garbage, "\(what): what was written before is lost")
            if end == head { found.written += 1 } else if end > 0 { found.before += 1 }
          }
        }
      }
    }
    #expect(found.before > 4 && found.written > 4, "\(found)")
  }

  @Test(arguments: derivedKinds)
  func `fault 61, 97: a call that fails stops the write alone, and the next one succeeds`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    var failed = 0
    let runs = StateRuns(100)
    while runs.isShort {
      let (seed, isNew) = (random.next(), Bool.random(using: &random))
      var number = 0
      var isLast = false
      while !isLast {
        number += 1
        runs.add()
        let code = Bool.random(using: &random) ? SystemErrorCode.inputOutput : SystemErrorCode.noSpace
        let what = "seed \(seed), isNew \(isNew), call \(number) fails with \(code)"
        var options = kind.options()
        options.fullDiskPause = .zero
        var work = try DerivedWork(kind, seed: seed, isNew: isNew, options)
        let called = Lock(0)
        let failing = number
        await work.failing(kind, with: code) { _, count in
          called.withLock { $0 = count }
          return count == failing
        } _: {
          if (try? kind.write(work.store)) == nil { failed += 1 }
        }
        isLast = called.withLock { $0 } < number
        try work.events.append(to: work.store)
        try kind.write(work.store)
        let head = work.store.head.sequence
        if number % 2 == 0 { try work.store.closeBlocking() }
        let after = number % 2 == 0 ? work.disk : work.disk.crash(seed: 4, model: .dropAll)
        let ends = try await kind.check(after, what, head: head)
        #expect(ends.allSatisfy { $0 == head }, "\(what): what was written is not used")
      }
      #expect(number > 15)
    }
    #expect(failed > runs.count / 8, "\(failed) of \(runs.count)")
  }

  @Test(arguments: derivedKinds)
  func `fault 97: while calls for derived files fail, no append, read or close does, and nothing is lost`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    // What cannot be read seems damaged, and is made again.
    let damaging: Set<SimulatedOperation> = [.open, .read, .size]
    let others: Set<SimulatedOperation> = [
      .list, .kind, .write, .syncData, .sync, .syncDirectory, .rename, .remove,
    ]
    let runs = StateRuns(100)
    var (failed, kept) = (0, 0)
    while runs.isShort {
      let (seed, isNew) = (random.next(), Bool.random(using: &random))
      for operation in damaging.union(others).sorted(by: { $0.rawValue < $1.rawValue }) {
        let number = Int.random(in: 1...3, using: &random)
        runs.add()
        let what = "seed \(seed), isNew \(isNew), from \(operation.rawValue) \(number) on"
        var options = kind.options()
        (options.fullDiskPause, options.pageCacheSize, options.unsavedSize) = (.zero, 0, 10_000)
        var work = try DerivedWork(kind, seed: seed, isNew: isNew, options)
        let calls = Lock(0)
        let (after, head) = try await work.failing(kind, with: SystemErrorCode.inputOutput) { call, _ in
          guard call.operation == operation else { return false }
          return calls.withLock { count in
            count += 1
            return count >= number
          }
        } _: {
          if (try? kind.write(work.store)) == nil { failed += 1 }
          try work.events.append(to: work.store)
          for folding in kind.foldings {
            let points = [work.end / 2, work.store.head.sequence].map { LogPoint.sequence($0) }
            let states = try work.store.statesBlocking(at: points, folding)
            #expect(states.count == points.count, "\(what): states are missing")
            for state in states {
              let fold = Fold(work.store.log, folding)
              try fold.run(through: state.sequence)
              let expected = try StateAnswers(fold.state, of: work.store)
              #expect(try StateAnswers(state, of: work.store).difference(from: expected) == nil, "\(what)")
            }
          }
          let crash = work.disk.crash(seed: seed, model: number % 2 == 0 ? .dropAll : .lossless)
          let head = work.store.head.sequence
          #expect(throws: Never.self, "\(what)") { try work.store.closeBlocking() }
          return (crash, head)
        }
        for end in try await kind.check(after, what, head: head) {
          #expect(end >= work.end || damaging.contains(operation), "\(what): what was written is lost")
          if end > 0 { kept += 1 }
        }
        _ = try await kind.check(work.disk, "\(what), closed", head: head)
      }
    }
    #expect(failed > runs.count / 4 && kept > runs.count / 2, "\(failed), \(kept) of \(runs.count)")
  }

  @Test(arguments: derivedKinds)
  func `a sync that is lost during a write gives no wrong answer`(_ kind: any DerivedKind) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(100)
    while runs.isShort {
      let seed = random.next()
      let number = Int.random(in: 1...12, using: &random)
      let isReported = Bool.random(using: &random)
      let work = try DerivedWork(kind, seed: seed, isNew: Bool.random(using: &random))
      work.disk.inject(SimulatedSyncFailure(number: number, keepsData: false, isReported: isReported))
      let isWritten = (try? kind.write(work.store)) != nil
      if work.disk.hasPendingFailures { continue }
      #expect(isWritten == !isReported)
      let head = work.store.head.sequence
      for model in [CrashModel.dropAll, .reorder, .reorder, .reorder] {
        runs.add()
        let after = work.disk.crash(seed: random.next(), model: model)
        _ = try await kind.check(after, "seed \(seed), sync \(number), \(model)", head: head)
      }
    }
  }
}
