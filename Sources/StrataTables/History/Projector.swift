// One fold per projection, shared by all who read its tables.

package import StrataEvents
package import StrataLog

/// Keeps the newest state of a projection, and folds on when somebody asks for more.
///
/// It pulls: nothing is folded, queued or woken for tables that nobody reads. Who asks for a sequence waits
/// without holding a thread; one thread folds for all who wait, up to the visible end, and publishes one state.
package final class Projector: Sendable {
  private struct Waiter {
    var sequence: UInt64
    var view: (table: String, definition: ViewDefinition)?
    var continuation: CheckedContinuation<Result<TableSet, StoreError>, Never>
  }

  private struct State {
    var published: TableSet
    var waiters: [Waiter] = []
    var isFolding = false
    /// How many hold each view.
    var holders: [ViewKey: Int] = [:]
    /// Views that nobody holds any more, to be taken out before the next fold.
    var unused: Set<ViewKey> = []
  }

  private struct ViewKey: Hashable {
    /// The name's UTF-8, by which tables are told apart.
    var table: [UInt8]
    var identity: ViewIdentity

    init(_ table: String, _ definition: ViewDefinition) {
      self.table = Array(table.utf8)
      identity = definition.identity
    }
  }

  /// The fold. Only the thread that folds touches it: `isFolding` says which.
  private struct Exclusive: @unchecked Sendable {
    let fold: Fold
  }

  /// Threads for folds alone, so that a long one keeps nobody from the disk.
  private static let threads = IOThreads(name: "strata-fold", threadCountMax: 2)

  private let log: Log
  private let state: Lock<State>
  private let exclusive: Exclusive

  package init(_ log: Log, _ folding: Folding) {
    self.log = log
    let fold = Fold(log, folding)
    exclusive = Exclusive(fold: fold)
    state = Lock(State(published: fold.state))
  }

  /// The newest state that was published; it may be behind the log.
  package var published: TableSet { state.withLock { $0.published } }

  /// A state that has everything up to a sequence, or up to the end where the log is shorter.
  package func state(reaching sequence: UInt64) async throws(StoreError) -> TableSet {
    try await reach(sequence, nil)
  }

  /// The same with a view over one of the tables, which is kept up to date for as long as `lease` lives.
  package func state(reaching sequence: UInt64, with lease: ViewLease) async throws(StoreError) -> TableSet {
    try await reach(sequence, (lease.table, lease.definition))
  }

  /// Holds a view: it is built at the first state that is asked for with the lease.
  package func lease(_ definition: ViewDefinition, of table: String) -> ViewLease {
    let key = ViewKey(table, definition)
    state.withLock { state in
      state.holders[key, default: 0] += 1
      state.unused.remove(key)
    }
    return ViewLease(table: table, definition: definition, projector: self)
  }

  func release(_ lease: ViewLease) {
    let key = ViewKey(lease.table, lease.definition)
    state.withLock { state in
      guard let count = state.holders[key] else { return }
      state.holders[key] = count > 1 ? count - 1 : nil
      if count <= 1 { state.unused.insert(key) }
    }
  }

  private func reach(
    _ sequence: UInt64, _ view: (table: String, definition: ViewDefinition)?
  ) async throws(StoreError) -> TableSet {
    // A store that is open for reading looks at what its writer appends from the first read on.
    try StoreError.wrapping { () throws(LogError) in try log.follow() }
    let wanted = min(sequence, log.mark.sequence)
    let result = await withCheckedContinuation { continuation in
      let waiter = Waiter(sequence: wanted, view: view, continuation: continuation)
      let (ready, begins) = state.withLock { state -> (TableSet?, Bool) in
        if Self.isReady(waiter, state.published) { return (state.published, false) }
        state.waiters.append(waiter)
        defer { state.isFolding = true }
        return (nil, !state.isFolding)
      }
      if let ready { continuation.resume(returning: .success(ready)) }
      if begins { Self.threads.start { [self] in foldForAll() } }
    }
    return try result.get()
  }

  private static func isReady(_ waiter: Waiter, _ set: TableSet) -> Bool {
    guard set.sequence >= waiter.sequence else { return false }
    guard let (table, definition) = waiter.view else { return true }
    return set[table].view(definition.identity) != nil
  }

  /// Folds until nobody waits. On a thread of `threads`, one at a time.
  private func foldForAll() {
    let fold = exclusive.fold
    while true {
      let (views, unused) = state.withLock {
        state -> ([(table: String, definition: ViewDefinition)], Set<ViewKey>) in
        defer { state.unused = [] }
        return (state.waiters.compactMap(\.view), state.unused)
      }
      for key in unused {
        key.table.withUnsafeBytes { name in fold.state.withTable(name) { $0.removeView(key.identity) } }
      }
      var failure: StoreError?
      let mark = log.mark.visible
      do throws(StoreError) {
        try fold.run(through: mark.sequence)
        if fold.state.sequence < mark.sequence { throw .closed }
        if fold.state.sequence == mark.sequence { fold.state.chain = mark.chain }
      } catch {
        failure = error
      }
      for (table, definition) in views { fold.state.withTable(table) { $0.addView(definition) } }
      let set = fold.state
      let (ready, isDone, old) = state.withLock { state -> ([Waiter], Bool, TableSet) in
        let old = state.published
        // What failed may have stopped inside an append, and nobody is shown a part of one.
        if failure == nil { state.published = set }
        let ready = failure == nil ? state.waiters.filter { Self.isReady($0, set) } : state.waiters
        state.waiters = failure == nil ? state.waiters.filter { !Self.isReady($0, set) } : []
        let isDone = state.waiters.isEmpty
        if isDone { state.isFolding = false }
        return (ready, isDone, old)
      }
      for waiter in ready {
        waiter.continuation.resume(returning: failure.map { .failure($0) } ?? .success(set))
      }
      // The pages that only the old state holds are freed behind the lock.
      withExtendedLifetime(old) {}
      if isDone { return }
    }
  }
}

/// Keeps a view of a projector's table up to date for as long as it lives.
package final class ViewLease: Sendable {
  package let table: String
  package let definition: ViewDefinition
  private let projector: Projector

  init(table: String, definition: ViewDefinition, projector: Projector) {
    self.table = table
    self.definition = definition
    self.projector = projector
  }

  deinit { projector.release(self) }
}

/// The projectors of one store.
final class Projectors: Sendable {
  private let all = Lock<[FoldingIdentity: Projector]>([:])

  func projector(_ log: Log, _ folding: Folding) -> Projector {
    all.withLock { all in
      let identity = FoldingIdentity(folding)
      if let projector = all[identity] { return projector }
      let projector = Projector(log, folding)
      all[identity] = projector
      return projector
    }
  }
}

extension EventStore {
  /// The projector of a projection, the same one at every call.
  package func projector(_ folding: Folding) -> Projector {
    attachment { Projectors() }.projector(log, folding)
  }
}
