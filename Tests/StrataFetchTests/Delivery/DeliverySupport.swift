// Shared by the tests of delivery: a store of chores, and the recorded content of a list of them.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import Testing

typealias ChoreList = FetchController<Chore, String?>
typealias ChoreUpdate = ListUpdate<Chore, String?>

/// A store with a list of its chores, in sections by owner and sorted by title.
struct Household {
  static let all = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title)
  static let open = all.filtered(id: "open") { !$0.isDone }

  let store: EventStore
  let chores: DocumentCollection<Chore>
  let list: ChoreList

  /// - Parameter titles: one chore for each letter. Every second chore belongs to ann, the others have no owner.
  init(
    _ titles: String = "abc", _ request: ListRequest<Chore, String?> = all, store: EventStore? = nil
  ) async throws {
    self.store = store ?? .inMemory()
    chores = self.store.collection("task", of: Chore.self)
    for (index, title) in titles.enumerated() {
      try await chores.put(Chore(id: index, title: String(title), owner: index % 2 == 0 ? nil : "ann"))
    }
    list = FetchController(request, from: chores)
  }
}

/// The content of a snapshot.
struct ShownList: Equatable, CustomStringConvertible {
  struct Section: Equatable {
    var id: String?
    var items: [Int]
  }

  var sections: [Section] = []

  init() {}

  init(_ snapshot: ListSnapshot<Chore, String?>) {
    sections = (0..<snapshot.numberOfSections).map {
      Section(id: snapshot.sectionIdentifier(at: $0), items: snapshot.itemIdentifiers(inSectionAt: $0))
    }
  }

  /// The list of some chores, computed from scratch.
  init(_ chores: some Sequence<Chore>) {
    var owned: [[UInt8]: (owner: String?, chores: [Chore])] = [:]
    for chore in chores {
      var key: [UInt8] = []
      if let owner = chore.owner { key = [1] + Array(owner.utf8) }
      owned[key, default: (chore.owner, [])].chores.append(chore)
    }
    sections = owned.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { _, section in
      let sorted = section.chores.sorted {
        ($0.title, String($0.id)) < ($1.title, String($1.id))
      }
      return Section(id: section.owner, items: sorted.map(\.id))
    }
  }

  var description: String {
    sections.map { "\($0.id ?? "nobody"): \($0.items)" }.joined(separator: "; ")
  }
}

/// Yields until a condition holds. One that does not hold for five minutes never will: the test fails, and the others go
/// on.
func waiting(
  sourceLocation: SourceLocation = #_sourceLocation, until isReady: @Sendable () -> Bool
) async {
  let begin = ContinuousClock.now
  while !isReady() {
    await Task.yield()
    guard begin.duration(to: .now) > .seconds(300) else { continue }
    Issue.record("what the test waits for does not come", sourceLocation: sourceLocation)
    return
  }
}

extension FetchController {
  /// Makes following fail, as if the store could not continue. The current follower stops.
  func failFollowing(with error: ListError) {
    let task = state.withLock { state -> CancellableTask in
      if case .following(let current) = state.phase { return current }
      let task = CancellableTask()
      _ = state.follow(with: task)
      return task
    }
    // First: a follower that ends by itself may be followed by another, whose list this failure is not about.
    change { $0.followerFailed(task, with: error) }
    task.cancel()
  }
}
