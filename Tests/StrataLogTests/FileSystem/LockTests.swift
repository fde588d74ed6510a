import StrataBase
internal import StrataLog
import Testing

@Suite struct LockTests {
  @Test func `a lock lets one thread in at a time`() throws {
    let counter = Lock(0)
    let threads = try (0..<4).map { _ in
      try DedicatedThread(name: "counting") {
        for _ in 0..<10_000 { counter.withLock { $0 += 1 } }
      }
    }
    for thread in threads { thread.join() }
    #expect(counter.withLock { $0 } == 40_000)
  }

  @Test func `a lock is given back where the body throws`() {
    struct Failure: Error, Equatable {}
    let lock = Lock(1)
    #expect(throws: Failure()) { try lock.withLock { (_) throws(Failure) in throw Failure() } }
    #expect(lock.withLock { $0 } == 1)
  }

  @Test func `a gate wakes those who wait`() throws {
    let gate = Gate<[Int]>([])
    let sum = Lock(0)
    let consumer = try DedicatedThread(name: "consuming") {
      while true {
        let next = gate.wait { $0.isEmpty ? nil : $0.removeFirst() }
        if next < 0 { return }
        sum.withLock { $0 += next }
      }
    }
    for number in 1...1_000 {
      gate.withLock { $0.append(number) }
      gate.signalAll()
    }
    gate.withLock { $0.append(-1) }
    gate.signalAll()
    consumer.join()
    #expect(sum.withLock { $0 } == 500_500)
  }

  @Test func `a wait ends when its time runs out`() {
    let gate = Gate(false)
    let start = MonotonicTime.now()
    #expect(!gate.wait(timeout: .milliseconds(20)) { $0 })
    #expect(MonotonicTime.now() >= start.advanced(by: .milliseconds(20)))
  }

  @Test func `a wait with a timeout ends with the signal`() throws {
    let gate = Gate(false)
    let thread = try DedicatedThread(name: "signalling") {
      gate.withLock { $0 = true }
      gate.signalAll()
    }
    #expect(gate.wait(timeout: .seconds(60)) { $0 })
    thread.join()
  }

  @Test func `fault 99: no signal is lost, however many threads wait for one`() throws {
    let jobs = Gate((waiting: 0, isOver: false))
    let taken = Gate(0)
    let workers = try (0..<4).map { number in
      try DedicatedThread(name: "worker \(number)") {
        while jobs.wait(for: { jobs -> Bool? in
          if jobs.waiting > 0 {
            jobs.waiting -= 1
            return true
          }
          return jobs.isOver ? false : nil
        }) {
          taken.withLock { $0 += 1 }
          taken.signalAll()
        }
      }
    }
    var given = 0
    for round in 0..<10_000 {
      // Each round waits for all of its jobs: no later signal makes up for one that is lost.
      for _ in 0...round % 3 {
        given += 1
        jobs.withLock { $0.waiting += 1 }
        jobs.signalOne()
      }
      guard taken.wait(timeout: .seconds(30), until: { $0 == given }) else {
        Issue.record("of \(given) jobs, not all were taken")
        break
      }
    }
    jobs.withLock { $0.isOver = true }
    jobs.signalAll()
    for worker in workers { worker.join() }
  }

  @Test func `time saturates at the end of its range`() {
    let now = MonotonicTime.now()
    #expect(now.advanced(by: .seconds(Int64.max)) == MonotonicTime(nanoseconds: .max))
    #expect(now.advanced(by: .nanoseconds(5)).nanoseconds == now.nanoseconds + 5)
  }

  @Test func `system messages are the systems words`() {
    #expect(systemMessage(SystemErrorCode.notFound) == "No such file or directory")
    #expect(!systemMessage(99_999).isEmpty)
  }
}

@Suite struct IOThreadsTests {
  private struct Refused: Error, Equatable { var number: Int }

  @Test func `every caller gets its own result`() async {
    let threads = IOThreads()
    let results = await withTaskGroup(of: (Int, Int).self) { group in
      for number in 0..<500 {
        group.addTask { (number, await threads.run { number * 3 }) }
      }
      return await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
    }
    #expect(results == Dictionary(uniqueKeysWithValues: (0..<500).map { ($0, $0 * 3) }))
  }

  @Test func `what the body throws reaches the caller with its type`() async {
    let threads = IOThreads()
    do throws(Refused) {
      try await threads.run { () throws(Refused) in throw Refused(number: 7) }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.number == 7)
    }
  }

  @Test func `as many bodies run at once as there are threads`() async {
    let threads = IOThreads(threadCountMax: 2)
    let inside = Gate(0)
    // Each waits for the other: with one thread neither would end.
    async let first: Void = threads.run { meet(inside) }
    async let second: Void = threads.run { meet(inside) }
    _ = await (first, second)
    #expect(inside.withLock { $0 } == 2)
  }

  @Test func `never more bodies run than there are threads`() async {
    let threads = IOThreads(threadCountMax: 2)
    let counts = Lock((now: 0, most: 0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await threads.run {
            counts.withLock {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            counts.withLock { $0.now -= 1 }
          }
        }
      }
    }
    #expect(counts.withLock { $0.most } <= 2)
  }

  @Test func `a thread ends only once and many can wait for it`() throws {
    let hasRun = Lock(false)
    let thread = try DedicatedThread(name: "a name longer than fifteen bytes") {
      hasRun.withLock { $0 = true }
    }
    let waiters = try (0..<3).map { _ in try DedicatedThread(name: "waiter") { thread.join() } }
    for waiter in waiters { waiter.join() }
    thread.join()
    #expect(hasRun.withLock { $0 })
  }
}

private func meet(_ inside: Gate<Int>) {
  inside.withLock { $0 += 1 }
  inside.signalAll()
  inside.wait { $0 == 2 }
}
