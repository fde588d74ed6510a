// Measures how many rows a second a program can write: awaited one by one, awaited by many tasks, and loaded.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Workload {
  /// Each row is an append of its own, with an id and a time. Awaited appends are so much slower that they get fewer.
  static func load(_ bench: Bench) async throws {
    let count = bench.corpus.count
    let awaited = max(1, min(count, 5_000))
    var times: [String: [Double]] = [:]
    for _ in 0..<bench.rounds {
      for (name, count, body) in forms(awaited: awaited, all: count) {
        let store = try await EventStore.open(at: bench.scratch.fresh("load"))
        let time = try await seconds { try await body(store, Appends(corpus: bench.corpus, count: count)) }
        precondition(store.head.sequence == UInt64(count), "every row is in the store")
        try await store.close()
        times[name, default: []].append(time / Double(count))
      }
    }
    for (name, times) in times.sorted(by: { $0.key < $1.key }) {
      report(name, "\(rate(1, median(times))) (\(microseconds(median(times))) a row)")
    }
  }

  private typealias Form = (String, Int, @Sendable (EventStore, Appends) async throws -> Void)

  private static func forms(awaited: Int, all: Int) -> [Form] {
    [
      (
        "awaited one by one", awaited,
        { store, appends in
          for append in appends { try await store.append(append.events, id: append.id, time: append.time) }
        }
      ),
      ("load", all, { store, appends in try await store.load(appends) }),
      (
        "load, durable every 1,000", all,
        { store, appends in try await store.load(appends, durableEvery: 1_000) }
      ),
      (
        "loadBlocking, on a thread", all,
        { store, appends in
          let thread = store.machine.thread("bench-load")
          try await thread.run { _ = try store.loadBlocking(appends) }
        }
      ),
    ]
  }

  /// Appends of one event each, made while they are taken.
  private struct Appends: Sequence, IteratorProtocol {
    let corpus: Corpus
    let count: Int
    var index = 0

    mutating func next() -> NewAppend? {
      guard index < count else { return nil }
      defer { index += 1 }
      return corpus.append(index)
    }
  }
}

extension Corpus {
  /// One event as an append of its own.
  fileprivate func append(_ number: Int) -> NewAppend {
    let line = self[number]
    let event = NewEvent(
      DocumentEvent.put, in: StreamName(String(decoding: line.stream, as: UTF8.self)),
      payload: EventPayload(codec: .cbor, bytes: line.payload))
    return NewAppend(
      [event], id: "corpus:\(number)",
      time: Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(number) * 1_000_000))
  }
}
