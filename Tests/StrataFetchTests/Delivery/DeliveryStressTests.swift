// Many writers, and consumers of every kind: each state equals the naive fold of the log up to its sequence.

internal import Dispatch
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct DeliveryStressTests {
  /// The list after each append, by a naive fold of the log, one event at a time.
  private func naiveLists(_ store: EventStore) async throws -> [UInt64: ShownList] {
    var chores: [Int: Chore] = [:]
    var lists: [UInt64: ShownList] = [0: ShownList()]
    for try await append in store.feed(from: .beginning, until: .caughtUp) {
      for event in append.events {
        let id = try #require(Int(event.stream.id))
        switch event.type {
        case DocumentEvent.put: chores[id] = try event.document().decode(Chore.self)
        case DocumentEvent.delete: chores[id] = nil
        default: Issue.record("unexpected event type \(event.type)")
        }
      }
      lists[append.sequences.upperBound] = ShownList(chores.values.filter { !$0.isDone })
    }
    return lists
  }

  private static func write(_ chores: DocumentCollection<Chore>, _ seed: UInt64, rounds: Int) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<rounds {
      let id = Int.random(in: 0..<25, using: &random)
      let title = String(UnicodeScalar(UInt8.random(in: 97...105, using: &random)))
      let owner = [nil, "ann", "bob"].randomElement(using: &random) ?? nil
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try await chores.delete(id)
      case 1:
        try await chores.put((0..<4).map { Chore(id: (id + $0) % 25, title: title, owner: owner) })
      default:
        try await chores.put(
          Chore(id: id, title: title, owner: owner, isDone: Bool.random(using: &random)))
      }
    }
  }

  /// The updates that a consumer received.
  private final class Witness: Sendable {
    let updates = Lock<[ChoreUpdate]>([])
    func see(_ update: ChoreUpdate) { updates.withLock { $0.append(update) } }
  }

  @Test
  func `R55 Every snapshot is the state after exactly one append, whoever asks while many write`()
    async throws
  {
    let seed = SeededGenerator.testSeed()
    for round in 0..<3 {
      let home = try await Household("", Household.open)
      let shown = Lock<[(UInt64, ShownList)]>([])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<3 {
          group.addTask { try await Self.write(home.chores, seed &+ UInt64(round * 3 + writer), rounds: 40) }
        }
        for _ in 0..<3 {
          group.addTask {
            for _ in 0..<40 {
              let snapshot = try await home.list.performFetch()
              shown.withLock { $0.append((snapshot.sequence, ShownList(snapshot))) }
              await Task.yield()
            }
          }
        }
        try await group.waitForAll()
      }
      let lists = try await naiveLists(home.store)
      for (sequence, list) in shown.withLock({ $0 }) {
        #expect(lists[sequence] == list, "seed \(seed), sequence \(sequence)")
      }
      try await home.store.close()
    }
  }

  @Test
  func `R53 Under many writers every consumer sees every step once, in order and without a gap`() async throws
  {
    let seed = SeededGenerator.testSeed()
    for round in 0..<3 {
      let home = try await Household("ab", Household.open)
      let start = try #require(try await home.list.snapshot(at: .sequence(1)).token)
      let witnesses = (0..<5).map { _ in Witness() }
      home.list.removeDelegate()
      let told = home.list.observe(on: .queue(DispatchQueue(label: "told"))) { witnesses[4].see($0) }
      let kinds = [
        home.list.updates, home.list.updates(.everyCommit), home.list.updates(since: start),
        home.list.updates(.everyCommit, since: start),
      ]
      try await withThrowingTaskGroup(of: Void.self) { readers in
        for (witness, updates) in zip(witnesses, kinds) {
          readers.addTask { for try await update in updates { witness.see(update) } }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for writer in 0..<3 {
            group.addTask {
              try await Self.write(home.chores, seed &+ UInt64(round * 3 + writer + 100), rounds: 40)
            }
          }
          try await group.waitForAll()
        }
        // Appends something that is shown, so that all consumers reach the end.
        try await home.chores.put(Chore(id: 500, title: "end"))
        let head = home.store.head.sequence
        for witness in witnesses {
          await waiting { witness.updates.withLock { $0.last?.sequence } == head }
        }
        try await home.store.close()
        try await readers.waitForAll()
      }
      told.cancel()
      let lists = try await naiveLists(home.store)
      for (number, witness) in witnesses.enumerated() {
        let name = "seed \(seed), round \(round), consumer \(number)"
        let updates = witness.updates.withLock { $0 }
        #expect(updates.first?.reason == ([2, 3].contains(number) ? .resumed : .initial), "\(name)")
        for update in updates {
          #expect(lists[update.sequence] == ShownList(update.after), "\(name) at \(update.sequence)")
        }
        for (old, new) in zip(updates, updates.dropFirst()) {
          #expect(new.before?.sequence == old.sequence && new.sequence > old.sequence, "\(name)")
          #expect(new.changes.fromSequence == old.sequence, "\(name)")
          #expect(new.changes.toSequence == new.sequence && !new.changes.isEmpty, "\(name)")
        }
      }
      // A consumer with `.everyCommit` receives each append that changes the list.
      let every = witnesses[3].updates.withLock { $0 }
      let steps = lists.keys.filter { $0 > 1 }.sorted()
      var last = lists[1]
      for step in steps where lists[step] != last {
        #expect(every.contains { $0.sequence == step }, "seed \(seed): sequence \(step) was not delivered")
        last = lists[step]
      }
    }
  }
}
