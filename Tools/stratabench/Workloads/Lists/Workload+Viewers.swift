// Measures many viewers of one list: windows of it at different offsets, each followed by a task of its own.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists

extension Workload {
  /// In each round: a row that enters at the front, so that every window changes, and one that changes where it is, which
  /// one window shows.
  static func viewers(_ bench: Bench) async throws {
    let (size, perRound) = (100_000, 20)
    for count in [1, 100, 1_000] {
      let store = try await ListedEvent.store(of: size)
      let viewers = try await Viewers(of: store, count, rows: size)
      let events = store.collection("event", of: ListedEvent.self)
      let all = ListedEvent.rows(size)
      var (shifting, changing, writing): ([Double], [Double], [Double]) = ([], [], [])
      var used: [Double] = []
      var number = size
      for _ in 0..<bench.rounds {
        for _ in 0..<perRound {
          var row = all[number % size]
          number += 1
          row.id = UUID()
          // The first section.
          row.sectionName = "Bear"
          row.timestamp += Double(number)
          let (before, begin) = (viewers.received, now())
          let processor = ProcessorTime.now()
          try await events.put(row)
          writing.append(now() - begin)
          await viewers.wait(for: before + count)
          shifting.append(now() - begin)
          used.append(processor.seconds)
        }
        for _ in 0..<perRound {
          guard var row = viewers.shownRow() else { continue }
          row.isUninteresting.toggle()
          let (before, begin) = (viewers.received, now())
          try await events.put(row)
          await viewers.wait(for: before + 1)
          changing.append(now() - begin)
        }
      }
      report(
        "\(count) windows, a row at the front",
        "\(milliseconds(median(shifting))) until all have it, \(milliseconds(median(used))) of the processors'"
          + " time; the writer waits \(microseconds(median(writing)))")
      report("  a row of one window", "\(milliseconds(median(changing))) until it is there")
      if count == 1_000 { aim("of 1,000 windows", median(shifting) * 1e3, 5, "ms") }
      viewers.cancel()
      try await store.close()
    }
  }
}

/// Windows of one list, each with a controller and a task.
private final class Viewers: Sendable {
  private struct State {
    var received = 0
    var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
  }

  private let controllers: [FetchController<ListedEvent, String>]
  private let state = Lock(State())
  private let tasks = Lock<[Task<Void, Never>]>([])

  init(of store: EventStore, _ count: Int, rows: Int) async throws {
    let events = store.collection("event", of: ListedEvent.self)
    controllers = (0..<count).map { index in
      let window = ListWindow.first(50, after: index * (rows / count))
      return FetchController(ListedEvent.request.windowed(to: window), from: events)
    }
    for controller in controllers {
      let task = Task {
        do { for try await _ in controller.updates { self.receive() } } catch {}
      }
      tasks.withLock { $0.append(task) }
    }
    await wait(for: count)
  }

  var received: Int { state.withLock { $0.received } }

  private func receive() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.received += 1
      guard let waiter = state.waiter, state.received >= waiter.count else { return nil }
      state.waiter = nil
      return waiter.continuation
    }
    continuation?.resume()
  }

  func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.received >= count { return true }
        state.waiter = (count, continuation)
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// A row in the middle of the middle window.
  func shownRow() -> ListedEvent? {
    let snapshot = controllers[controllers.count / 2].snapshot
    guard let snapshot, snapshot.numberOfItems > 20 else { return nil }
    return snapshot.itemIdentifiers.dropFirst(20).first.flatMap { snapshot.row(for: $0) }
  }

  func cancel() {
    for task in tasks.withLock({ $0 }) { task.cancel() }
    for controller in controllers { controller.cancel() }
  }
}
