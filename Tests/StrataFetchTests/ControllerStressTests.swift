// Many writers and many lists at once: however they interleave, every list is right and nothing is lost.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

/// A list of ids in sections, to which batches are applied as a screen would apply them.
private struct PlainList: Equatable {
  struct Section: Equatable {
    var id: String?
    var items: [Int]
  }

  var sections: [Section]

  init(_ snapshot: ListSnapshot<Chore, String?>) {
    sections = (0..<snapshot.numberOfSections).map {
      Section(id: snapshot.sectionIdentifier(at: $0), items: snapshot.itemIdentifiers(inSectionAt: $0))
    }
  }

  /// The list with a batch applied to it; nil if the batch has an index that does not exist.
  func applying(_ changes: ListChanges<Int, String?>) -> PlainList? {
    var list = self
    return list.apply(changes) ? list : nil
  }

  /// Removes from last to first, and inserts from first to last.
  private mutating func apply(_ changes: ListChanges<Int, String?>) -> Bool {
    var kept: [String?: Section] = [:]
    let from = changes.deletions.map(\.from) + changes.moves.map(\.from)
    for place in from.sorted(by: >) {
      guard place.section < sections.count, place.item < sections[place.section].items.count else {
        return false
      }
      sections[place.section].items.remove(at: place.item)
    }
    for place in (changes.sectionDeletions.map(\.from) + changes.sectionMoves.map(\.from)).sorted(by: >) {
      guard place < sections.count else { return false }
      if changes.sectionDeletions.contains(where: { $0.from == place }), !sections[place].items.isEmpty {
        return false
      }
      kept[sections[place].id] = sections.remove(at: place)
    }
    let put =
      changes.sectionInsertions.map { ($0.to, Section(id: $0.section, items: [])) }
      + changes.sectionMoves.map { ($0.to, kept[$0.section] ?? Section(id: "lost", items: [])) }
    for (place, section) in put.sorted(by: { $0.0 < $1.0 }) {
      guard place <= sections.count else { return false }
      sections.insert(section, at: place)
    }
    let items = changes.insertions.map { ($0.to, $0.id) } + changes.moves.map { ($0.to, $0.id) }
    for (place, id) in items.sorted(by: { $0.0 < $1.0 }) {
      guard place.section < sections.count, place.item <= sections[place.section].items.count else {
        return false
      }
      sections[place.section].items.insert(id, at: place.item)
    }
    return true
  }
}

@Suite struct ControllerStressTests {
  private typealias List = FetchController<Chore, String?>

  private static func request(_ random: inout SeededGenerator) -> ListRequest<Chore, String?> {
    var request = ListRequest(Chore.self).sectioned(by: \.owner)
    if Bool.random(using: &random) {
      request = request.sorted(by: \.title, Bool.random(using: &random) ? .forward : .reverse)
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: request = request.filtered(id: "open") { !$0.isDone }
    case 1: request = request.filtered(by: "title < 'm' || owner == null")
    default: break
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: request = request.limited(to: Int.random(in: 0...12, using: &random))
    case 1: request = request.limited(perSection: Int.random(in: 0...4, using: &random))
    default: break
    }
    let orders: [ListSectionOrder<String?>] = [
      .key, .keyDescending, .first, .count, .list(["eve", nil, "no"]),
    ]
    return request.sectionsOrdered(by: orders.randomElement(using: &random) ?? .key)
  }

  /// Repeatedly writes, deletes and updates a few documents.
  private static func write(_ chores: DocumentCollection<Chore>, _ seed: UInt64, rounds: Int) async throws {
    var random = SeededGenerator(seed: seed)
    let owners = [nil, "ann", "bob", "eve"]
    for _ in 0..<rounds {
      let id = Int.random(in: 0..<30, using: &random)
      let title = String(UnicodeScalar(UInt8.random(in: 97...122, using: &random)))
      let owner = owners.randomElement(using: &random) ?? nil
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try await chores.delete(id)
      case 1: try await chores.put((0..<5).map { Chore(id: (id + $0) % 30, title: title, owner: owner) })
      case 2: _ = try? await chores.update(id) { $0.isDone.toggle() }
      default: try await chores.put(Chore(id: id, title: title, owner: owner, isDone: title < "f"))
      }
    }
  }

  /// Follows a list to the end of the store, and checks every update.
  private static func follow(_ list: List, leavingAfter count: Int?, _ name: String) async throws -> UInt64? {
    var shown: PlainList?
    var last: UInt64 = 0
    var seen = 0
    for try await update in list.updates {
      if let plain = shown {
        #expect(update.reason != .initial && update.before != nil, "\(name)")
        #expect(update.sequence >= last, "\(name): \(update.sequence) after \(last)")
        #expect(update.reason == .reconfigured || update.sequence > last, "\(name)")
        #expect(plain.applying(update.changes) == PlainList(update.after), "\(name)")
      } else {
        #expect(update.reason == .initial && update.changes.isEmpty, "\(name)")
      }
      shown = PlainList(update.after)
      last = update.sequence
      seen += 1
      if seen == count { return nil }
    }
    guard let shown, !list.isCancelled else { return nil }
    // The store was closed, so nothing may be missing.
    #expect(shown == PlainList(try await list.performFetch()), "\(name)")
    return last
  }

  @Test
  func `Lists that are followed, reconfigured, cancelled and dropped while many write are right to the end`()
    async throws
  {
    let seed = UInt64.random(in: 0..<1_000_000)
    for round in 0..<6 {
      let store = EventStore.inMemory()
      let chores = store.collection("task", of: Chore.self)
      var random = SeededGenerator(seed: seed + UInt64(round))
      let name = "seed \(seed), round \(round)"
      try await withThrowingTaskGroup(of: Void.self) { readers in
        for number in 0..<8 {
          let list = List(Self.request(&random), from: chores)
          let count = number < 3 ? nil : Int.random(in: 1...20, using: &random)
          let other = number % 2 == 0 ? Self.request(&random) : nil
          let isCancelled = number == 7
          readers.addTask { _ = try await Self.follow(list, leavingAfter: count, "\(name), list \(number)") }
          if number == 1 {
            readers.addTask { _ = try await Self.follow(list, leavingAfter: nil, "\(name), second of 1") }
          }
          readers.addTask {
            for step in 0..<12 {
              try await Task.sleep(for: .microseconds(200))
              do {
                if step % 4 == 0, let other {
                  try await list.apply(other)
                } else {
                  try await list.performFetch()
                }
              } catch is CancellationError {
                // The list was cancelled in the meantime.
              }
            }
            if isCancelled { list.cancel() }
          }
        }
        try await withThrowingTaskGroup(of: Void.self) { writers in
          for _ in 0..<4 {
            let seed = random.next()
            writers.addTask { try await Self.write(chores, seed, rounds: 40) }
          }
          try await writers.waitForAll()
        }
        try await store.close()
        try await readers.waitForAll()
      }
    }
  }

  @Test
  func `Snapshots and changes at random points equal the lists that were shown there`() async throws {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    var random = SeededGenerator(seed: 11)
    let request = Self.request(&random).sorted(by: \.id)
    let list = List(request, from: chores)
    let writing = Task { for seed in 0..<3 { try await Self.write(chores, UInt64(seed), rounds: 30) } }
    var shown: [ListSnapshot<Chore, String?>] = []
    for _ in 0..<12 {
      try await Task.sleep(for: .milliseconds(2))
      shown.append(try await list.performFetch())
    }
    try await writing.value
    for snapshot in shown {
      let past = try await list.snapshot(at: .sequence(snapshot.sequence))
      #expect(PlainList(past) == PlainList(snapshot))
      let now = PlainList(try await list.performFetch())
      let forth = try await list.changes(from: .sequence(snapshot.sequence), to: .head)
      #expect(PlainList(past).applying(forth) == now)
      let back = try await list.changes(from: .head, to: .sequence(snapshot.sequence))
      #expect(now.applying(back) == PlainList(snapshot))
    }
  }
}
