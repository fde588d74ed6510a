// Work on all processors: every part once, whatever threads there are.

import StrataBase
import Testing

@Suite struct ParallelTests {
  @Test(arguments: [0, 1, 2, 3, 100, 1_000])
  func `Every part is done once before the call returns`(count: Int) {
    for threads in [0, 1, 2, 5] {
      let parallel = Parallel(threads: .system, threadCountMax: threads)
      let calls = Lock([Int](repeating: 0, count: count))
      parallel.forEach(below: count) { number in calls.withLock { $0[number] += 1 } }
      #expect(calls.withLock { $0.allSatisfy { $0 == 1 } })
    }
  }

  @Test func `No more threads are started than there are parts`() {
    let started = Lock(0)
    let starter = ThreadStarter { (name, body) throws(FileSystemError) in
      started.withLock { $0 += 1 }
      return try DedicatedThread(name: name, body)
    }
    let parallel = Parallel(threads: starter, threadCountMax: 8)
    for (count, others) in [(0, 0), (1, 0), (2, 1), (3, 2), (50, 7)] {
      started.withLock { $0 = 0 }
      parallel.forEach(below: count) { _ in }
      #expect(started.withLock { $0 } == others)
    }
  }

  @Test func `Without another thread the calling one does everything`() {
    let starter = ThreadStarter { (name, _) throws(FileSystemError) in
      throw FileSystemError("start thread", name, code: 11)
    }
    let done = Lock<Set<Int>>([])
    Parallel(threads: starter, threadCountMax: 4).forEach(below: 20) { number in
      done.withLock { _ = $0.insert(number) }
    }
    #expect(done.withLock { $0.count } == 20)
  }
}
