// Measures opening a large store, and random reads in it.

internal import Foundation
internal import StrataEvents
internal import StrataLog

extension Workload {
  static func open(_ bench: Bench) async throws {
    let path = bench.scratch.fresh("open")
    let store = try await EventStore.open(at: path)
    try await fill(store, bench.corpus, streams: 100_000)
    try await store.close()
    var writer: [Double] = []
    var reader: [Double] = []
    var first: [Double] = []
    for round in 0..<bench.rounds {
      writer.append(
        try await seconds {
          let store = try await EventStore.open(at: path)
          try await store.close()
        })
      reader.append(try await seconds { _ = try await EventStore.open(at: path, .readOnly) })
      let store = try await EventStore.open(at: path)
      first.append(
        try await seconds {
          _ = try await store.append(bench.corpus.draft(round..<round + 1, streams: 100_000))
        })
      try await store.close()
    }
    report("open for writing and close", String(format: "%.1f ms", median(writer) * 1e3))
    report("open for reading", String(format: "%.1f ms", median(reader) * 1e3))
    report("first append after it", String(format: "%.1f ms", median(first) * 1e3))
  }

  static func seek(_ bench: Bench) async throws {
    let path = bench.scratch.fresh("seek")
    let store = try await EventStore.open(at: path)
    try await fill(store, bench.corpus, streams: 100_000)
    let count = bench.corpus.count
    let first = try await store.append(holding: 1)?.time.nanoseconds ?? 0
    let last = store.lastTime?.nanoseconds ?? 0
    var generator = SystemRandomNumberGenerator()
    let rounds = 2000
    let numbers = (0..<rounds).map { _ in UInt64.random(in: 1...UInt64(count), using: &generator) }
    let times = (0..<rounds).map { _ in Int64.random(in: first...max(first, last), using: &generator) }
    let bySequence = try seconds {
      for number in numbers { _ = try store.log.append(holding: number) }
    }
    let byTime = try seconds {
      for time in times { _ = try store.log.lastAppend(notAfter: time) }
    }
    let byStream = try seconds {
      for number in numbers.prefix(500) {
        _ = try store.eventsBlocking(in: StreamName("incident/\(number % 100_000)"))
      }
    }
    report("append by sequence", String(format: "%.1f µs", bySequence / Double(rounds) * 1e6))
    report("append by time", String(format: "%.1f µs", byTime / Double(rounds) * 1e6))
    report("a stream's events", String(format: "%.1f µs", byStream / 500 * 1e6))
    try await store.close()
  }
}
