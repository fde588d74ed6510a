// Views that are built while their projector folds on.

internal import StrataBase
internal import StrataLog

/// A view of a large table that callers wait for. It is built from the rows of one state, in slices of its own, so that
/// the readers of other views do not wait for it, and then follows what the projector folded in the meantime.
final class AwaitedView: @unchecked Sendable {
  // `building` and `rows` belong to the thread that runs the slice, and to the folding thread once `isBuilt`.
  let table: String
  let building: ViewBuilding
  /// `headAtBegin` of the fold that made the rows. A fold that began from the start after an erasure has other rows.
  let headAtBegin: UInt64
  let slice = TimeSlice()
  /// The view, and the rows that it is of; nil until it is built.
  private(set) var view: View?
  private(set) var rows: Tree
  private(set) var nanoseconds: Int64 = 0

  init(_ building: ViewBuilding, of table: String, headAtBegin: UInt64) {
    self.table = table
    self.building = building
    self.headAtBegin = headAtBegin
    rows = building.rows
  }

  /// Goes on for one slice. Returns true once the view is built.
  ///
  /// - Parameter now: a later version of the rows, which the view follows once it is built.
  func goOn(_ now: () -> Tree?) -> Bool {
    let begin = MonotonicTime.now().nanoseconds
    defer { nanoseconds += MonotonicTime.now().nanoseconds - begin }
    guard let view = building.goOn(slice) else { return false }
    self.view = view
    if let now = now() { follow(now) }
    return true
  }

  /// Follows the changes up to another version of the rows. O(changes · log n).
  func follow(_ now: Tree) {
    view?.catchUp(from: rows, to: now)
    rows = now
  }
}

extension Projector.State {
  /// Whether another pass has something to do: for a waiting caller, unless the view that is being built for it will
  /// begin one, or because a comparison has ended.
  var needsPass: Bool {
    origin.isCompared
      || waiters.wishes.contains { wish in
        guard let (table, definition) = wish.view,
          let awaited = awaited[Projector.ViewKey(table, definition)]
        else { return true }
        return awaited.isBuilt
      }
  }

  /// Gives up the views that no caller waits for any longer, and returns them.
  mutating func giveUpViews() -> [Projector.Awaited] {
    guard !awaited.isEmpty else { return [] }
    let wanted = Set(waiters.wishes.compactMap { $0.view.map { Projector.ViewKey($0.table, $0.definition) } })
    let unwanted = awaited.filter { !wanted.contains($0.key) }
    for key in unwanted.keys { awaited[key] = nil }
    return Array(unwanted.values)
  }
}

extension Projector {
  /// A view that callers wait for, and whether it is built.
  struct Awaited {
    var view: AwaitedView
    var isBuilt = false
  }

  /// Adds a view to the state of the fold: at once if the table is small or the view is saved; otherwise the view is
  /// built by other slices, and added by the pass that follows.
  func provide(_ definition: ViewDefinition, of table: String, in fold: Fold) {
    guard fold.state[table].view(definition.identity) == nil else { return }
    let key = ViewKey(table, definition)
    if let awaited = state.withLock({ $0.awaited[key] }) {
      guard awaited.isBuilt else { return }
      state.withLock { $0.awaited[key] = nil }
      if awaited.view.headAtBegin == fold.headAtBegin {
        return exclusive.work.add(awaited.view, to: fold)
      }
    }
    guard fold.state[table].count >= log.options.viewBuildingMin,
      !exclusive.work.open(definition, of: table, in: fold)
    else { return exclusive.work.addView(definition, of: table, to: fold) }
    let building = ViewBuilding(definition, of: fold.state[table], on: log.options.machine.parallel)
    let awaited = AwaitedView(building, of: table, headAtBegin: fold.headAtBegin)
    let sequence = fold.state.sequence
    state.withLock { $0.awaited[key] = Awaited(view: awaited) }
    threads.start(awaited.slice) { [self] in build(awaited, key, from: sequence) }
  }

  /// Runs one slice of building a view. Returns true if there is more to do.
  private func build(_ awaited: AwaitedView, _ key: ViewKey, from sequence: UInt64) -> Bool {
    guard state.withLock({ $0.awaited[key]?.view === awaited }) else { return false }
    let isBuilt = awaited.goOn {
      let set = published
      return set.sequence > sequence ? set[awaited.table].rows : nil
    }
    guard isBuilt else { return true }
    let begins = state.withLock { state in
      guard state.awaited[key]?.view === awaited else { return false }
      state.awaited[key]?.isBuilt = true
      defer { state.isFolding = true }
      return !state.isFolding
    }
    if begins { threads.start(slice) { [self] in foldOn() } }
    return false
  }

  /// Ends the building of views that were given up. They are released outside the lock.
  func end(_ views: [Awaited]) {
    for awaited in views {
      awaited.view.slice.setWanted(false)
      threads.withdraw(awaited.view.slice)
    }
  }
}

// MARK: Progress

extension Projector {
  /// How far the state at a sequence with a view has come. O(1).
  package func progress(toward sequence: UInt64, with lease: ViewLease) -> StateProgress {
    state.withLock { state in
      let isFolded = state.published.sequence >= sequence
      if isFolded, let awaited = state.awaited[ViewKey(lease.table, lease.definition)] {
        let (done, count) = awaited.view.building.progress
        return .rows(done, of: count)
      }
      let reached = max(state.published.sequence, state.reached?.value ?? 0)
      return .events(Int(min(reached, sequence)), of: Int(sequence))
    }
  }
}
