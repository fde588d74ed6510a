// One event at a time, on disk before the next.

internal import Foundation
internal import StrataEvents
internal import StrataLog

extension Workload {
  static func durable(_ bench: Bench) async throws {
    let count = min(2000, bench.corpus.count)
    var limits: [Double] = []
    var single: [Double] = []
    var blocking: [Double] = []
    var many: [Double] = []
    let manyCount = min(64 * 300, bench.corpus.count)
    for _ in 0..<bench.rounds {
      let path = bench.scratch.fresh("durable")
      let store = try await EventStore.open(at: path)
      single.append(
        try await seconds {
          for number in 0..<count { _ = try await store.append(bench.corpus.draft(number..<number + 1)) }
        })
      let size = (bytesOnDisk("\(path)/log") - 4096) / count
      limits.append(RawLimits.writeAndSync(count, size: size, path: bench.scratch.fresh("raw")))
      let time = Lock(0.0)
      let thread = try DedicatedThread(name: "bench") {
        let taken = seconds {
          for number in 0..<count {
            _ = try? store.log.appendBlocking(bench.corpus.draft(number..<number + 1))
          }
        }
        time.withLock { $0 = taken }
      }
      thread.join()
      blocking.append(time.withLock { $0 })
      many.append(try await seconds { try await parallel(store, bench.corpus, manyCount, tasks: 64) })
      try await store.close()
    }
    report("one task through await", single, limit: limits, count: count, limitName: "write+fdatasync")
    report("one thread, blocking", blocking, limit: limits, count: count, limitName: "write+fdatasync")
    report("64 tasks", "\(rate(manyCount, median(many))) (\(manyCount) events)")
  }

  private static func parallel(
    _ store: EventStore, _ corpus: Corpus, _ count: Int, tasks: Int
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: task, to: count, by: tasks) {
            _ = try await store.append(corpus.draft(number..<number + 1))
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
