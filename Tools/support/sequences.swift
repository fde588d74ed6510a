// What becomes of a list's updates in the algorithms of swift-async-algorithms, and in Observations.

import AsyncAlgorithms
import Foundation
import Observation
import Strata
import Synchronization

struct Note: Codable, Identifiable, Sendable {
  var id: Int
  var title: String
  var isDone = false
}

/// A store with two lists of its notes.
struct Desk: Sendable {
  let store = EventStore.inMemory()
  let notes: DocumentCollection<Note>
  let list: FetchController<Note, Unsectioned>
  let done: FetchController<Note, Unsectioned>

  init() {
    notes = store.collection("note", of: Note.self)
    list = FetchController(ListRequest(Note.self).sorted(by: \.title), from: notes)
    done = FetchController(ListRequest(Note.self).filtered(id: "done") { $0.isDone }, from: notes)
  }

  /// Writes notes, each of which both lists show before the next one is written.
  func write(_ numbers: Range<Int>) async throws {
    for number in numbers {
      let receipt = try await notes.put(Note(id: number, title: "\(number)", isDone: true))
      try await list.fetch(through: receipt)
      try await done.fetch(through: receipt)
      // A moment for those that iterate.
      try await Task.sleep(for: .milliseconds(2))
    }
  }
}

/// Whether each update begins where the one before it ended, and what they have inserted.
struct Chain: Sendable {
  var breakCount = 0
  var repeatCount = 0
  var inserted: Set<Int> = []
  var count = 0
  private var last: UInt64?

  mutating func follow(_ update: ListUpdate<Note, Unsectioned>) {
    count += 1
    if let last, update.sequence == last {
      repeatCount += 1
      return
    }
    if let last, update.before?.sequence != last { breakCount += 1 }
    last = update.sequence
    if update.before == nil { inserted.formUnion(update.after.itemIdentifiers) }
    inserted.formUnion(update.changes.insertions.map(\.id))
  }

  var isWhole: Bool { breakCount == 0 && repeatCount == 0 }
}

final class Seen: Sendable {
  private let chain = Mutex(Chain())

  func follow(_ update: ListUpdate<Note, Unsectioned>) { chain.withLock { $0.follow(update) } }
  var now: Chain { chain.withLock { $0 } }
}

@MainActor var failureCount = 0

@MainActor func check(_ name: String, _ holds: Bool, _ detail: String) {
  if !holds { failureCount += 1 }
  print("\(holds ? "✔" : "✘") \(name): \(detail)")
}

@MainActor func wait(until isReady: () -> Bool) async throws {
  let begin = ContinuousClock.now
  while !isReady() {
    guard begin.duration(to: .now) < .seconds(10) else { return }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// Iterates while 20 notes are written, and returns what was seen; then checks that cancelling ends the iteration, and that
/// closing the store ends another one.
@MainActor func run<Elements: AsyncSequence & Sendable>(
  _ name: String, _ elements: @Sendable (Desk) -> Elements,
  _ body: @escaping @Sendable (Elements.Element, Seen, Seen) async throws -> Void
) async throws -> (Chain, Chain) where Elements.Element: Sendable {
  let desk = Desk()
  let (a, b) = (Seen(), Seen())
  let task = Task { [elements = elements(desk)] in
    for try await element in elements { try await body(element, a, b) }
  }
  try await wait { a.now.count > 0 }
  try await desk.write(0..<20)
  try await wait { a.now.inserted.contains(19) }
  let seen = (a.now, b.now)
  task.cancel()
  check(name, await ends(task), "ends when its task is cancelled")
  let other = Desk()
  let (c, d) = (Seen(), Seen())
  let closing = Task { [elements = elements(other)] in
    for try await element in elements { try await body(element, c, d) }
  }
  try await wait { c.now.count > 0 }
  try await other.store.close()
  check(name, await ends(closing), "ends when the store is closed")
  return seen
}

/// Whether a task ends within half a minute, and not by another error than that of cancellation.
func ends(_ task: Task<Void, any Error>) async -> Bool {
  await withTaskGroup(of: Bool.self) { group in
    group.addTask {
      do { try await task.value } catch { return error is CancellationError }
      return true
    }
    group.addTask {
      try? await Task.sleep(for: .seconds(30))
      return false
    }
    defer { group.cancelAll() }
    return await group.next() ?? false
  }
}

@main @MainActor struct Sequences {
  static func main() async throws {
    let all = Set(0..<20)
    let interval = Duration.milliseconds(60)

    let (plain, _) = try await run("updates", { $0.list.updates }) { update, seen, _ in seen.follow(update) }
    check("updates", plain.isWhole && plain.inserted == all, "whole, in \(plain.count) updates")

    let (paced, _) = try await run("updates(every:)", { $0.list.updates(.latest, every: interval) }) {
      update, seen, _ in seen.follow(update)
    }
    check(
      "updates(every:)", paced.isWhole && paced.inserted == all && paced.count < 15,
      "whole, in \(paced.count) updates")

    let (debounced, _) = try await run("debounce", { $0.list.updates.debounce(for: interval) }) {
      update, seen, _ in seen.follow(update)
    }
    check(
      "debounce", debounced.breakCount > 0,
      "loses changes: \(debounced.inserted.count) of 20 are in its updates")

    let (throttled, _) = try await run("_throttle", { $0.list.updates._throttle(for: interval) }) {
      update, seen, _ in seen.follow(update)
    }
    check(
      "_throttle", throttled.inserted != all,
      "loses changes: \(throttled.inserted.count) of 20 are in its updates")

    let (first, second) = try await run(
      "merge",
      { desk in
        merge(desk.list.updates.map { (true, $0) }, desk.done.updates.map { (false, $0) })
      }
    ) { element, a, b in (element.0 ? a : b).follow(element.1) }
    check(
      "merge", first.isWhole && second.isWhole && first.inserted == all, "whole, one list after the other")

    let (left, right) = try await run("combineLatest", { combineLatest($0.list.updates, $0.done.updates) }) {
      pair, a, b in
      a.follow(pair.0)
      b.follow(pair.1)
    }
    check(
      "combineLatest", left.repeatCount + right.repeatCount > 0,
      "repeats \(left.repeatCount + right.repeatCount) updates")

    let (joined, other) = try await run("JoinedUpdates", { JoinedUpdates($0.list, $0.done) }) { step, a, b in
      precondition(step.updates.0.sequence == step.updates.1.sequence)
      a.follow(step.updates.0)
      b.follow(step.updates.1)
    }
    check("JoinedUpdates", joined.isWhole && other.isWhole, "whole, both at one sequence")

    let (shared, _) = try await run("share", { $0.list.updates.share() }) { update, seen, _ in
      seen.follow(update)
    }
    check("share", shared.isWhole && shared.inserted == all, "whole for a consumer from the beginning on")
    try await late()

    try await slow()

    try await observations()
    guard failureCount == 0 else {
      print("\(failureCount) of the page's sentences do not hold")
      exit(1)
    }
  }

  /// A consumer that begins late with a shared sequence.
  static func late() async throws {
    let desk = Desk()
    let shared = desk.list.updates.share()
    let (early, late) = (Seen(), Seen())
    let first = Task { for try await update in shared { early.follow(update) } }
    try await desk.write(0..<3)
    try await wait { early.now.inserted.count == 3 }
    let second = Task { for try await update in shared { late.follow(update) } }
    try await Task.sleep(for: .milliseconds(50))
    try await desk.write(3..<6)
    try await wait { late.now.inserted.contains(5) }
    check("share", !late.now.inserted.contains(0), "has no whole list for a consumer that begins later")
    first.cancel()
    second.cancel()
  }

  /// A slow consumer of a shared sequence, beside a fast one.
  static func slow() async throws {
    let desk = Desk()
    let shared = desk.list.updates.share(bufferingPolicy: .bufferingLatest(1))
    let (fast, slow) = (Seen(), Seen())
    let first = Task { for try await update in shared { fast.follow(update) } }
    let second = Task {
      for try await update in shared {
        slow.follow(update)
        try await Task.sleep(for: .milliseconds(30))
      }
    }
    try await wait { fast.now.count > 0 && slow.now.count > 0 }
    try await desk.write(0..<20)
    try await wait { fast.now.inserted.count == 20 && slow.now.inserted.contains(19) }
    check(
      "share(.bufferingLatest)", slow.now.inserted.count < 20,
      "a slow consumer loses changes: \(slow.now.inserted.count) of 20 are in its updates")
    first.cancel()
    second.cancel()
  }

  /// Observations of a live list.
  static func observations() async throws {
    let desk = Desk()
    let live = LiveList(desk.list)
    let snapshots = Seen()
    let shown = Mutex<Int>(0)
    let task = Task { @MainActor in
      for await update in Observations({ live.lastUpdate }) {
        guard let update else { continue }
        snapshots.follow(update)
        shown.withLock { $0 = update.after.numberOfItems }
        // A view that takes its time.
        try await Task.sleep(for: .milliseconds(30))
      }
    }
    try await wait { live.phase == .ready }
    try await desk.write(0..<20)
    try await wait { shown.withLock { $0 } == 20 }
    check("Observations", shown.withLock { $0 } == 20, "reaches the newest snapshot")
    check("Observations", snapshots.now.breakCount > 0, "loses changes of a list's lastUpdate")
    task.cancel()
    live.cancel()
  }
}
