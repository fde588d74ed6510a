// Views beside the fold: those that are built, and those that take too long.
//
// A view is made beside the fold, joins it when it has caught up with it, and leaves it again when its part of a step
// takes longer than `StoreOptions.viewBudget`. Beside the fold it has a `ViewFollower`, which works only while a caller
// waits for the view. A view that took that long for three rows stays beside the fold for good.
//
// No caller but those of the view waits for it: the fold publishes states without it, and its follower answers with a
// state of its own, which has the view too.

internal import StrataBase
package import StrataLog
package import StrataTables

extension Projector {
  /// A view beside the fold.
  struct Follower {
    var follower: ViewFollower
    /// Whether a thread runs its slices, or will.
    var isRunning = false
    /// Whether it never joins the fold.
    var isSlow = false
    /// A state that has to be folded further before it joins the fold.
    var joinsAfter: UInt64?
    /// Whether it goes on although no caller waits, since it is saved.
    var keepsOn = false
    /// Of which state the view is; nil until it is built.
    fileprivate(set) var built: UInt64?
    /// That state, which answers for as long as a list holds the view: it has all other tables too, as they were then.
    fileprivate(set) var set: TableSet?
    /// The view as an earlier process saved it.
    var saved: ViewOnDisk?
  }

  /// Makes a view of a table's state, beside the fold unless that is done at once.
  func provide(_ definition: ViewDefinition, of table: String, in fold: Fold, _ own: Exclusive) {
    guard fold.state[table].view(definition.identity) == nil else { return }
    let key = ViewKey(table, definition)
    let (isNew, isCautious) = state.withLock { ($0.followers[key] == nil, $0.watched.isCautious) }
    guard isNew else { return }
    let saved = fold.state.withTable(table) { $0.takeSavedView(definition) } as? ViewOnDisk
    let count = fold.state[table].count
    let isEmpty = count == 0 && definition.declaredSections.isEmpty
    let isBuilt = !isEmpty && (definition.callsProgram || count >= log.options.viewBuildingMin)
    guard saved != nil || isBuilt || isCautious && definition.callsProgram else {
      own.hasViews = true
      return own.work.addView(definition, of: table, to: fold)
    }
    follow(definition, of: table, head: fold.headAtBegin, saved)
  }

  private func follow(
    _ definition: ViewDefinition, of table: String, head: UInt64, _ saved: ViewOnDisk? = nil,
    keepsOn: Bool = false
  ) {
    let follower = ViewFollower(
      definition, of: table, head: head, saved: saved, log.options)
    state.withLock {
      $0.followers[ViewKey(table, definition)] = Follower(follower: follower, keepsOn: keepsOn, saved: saved)
    }
  }

  /// Adds the views to a fold that are of its rows as they are, and as they were published: the fold that goes on finds
  /// them there. No code of the program is called.
  ///
  /// - Parameter isSaved: whether the state is saved, for which the views are needed at once.
  func takeInFollowers(_ fold: Fold, _ own: Exclusive, isSaved: Bool = false) {
    let taken = state.withLock { state in
      let isCautious = state.watched.isCautious
      let ready = state.followers.filter { key, entry in
        !entry.isRunning && !entry.isSlow && entry.follower.target == nil && entry.follower.view != nil
          && entry.follower.head == fold.headAtBegin
          && (isSaved || entry.joinsAfter.map { $0 < fold.state.sequence } ?? true)
          && !(isCautious && entry.follower.definition.callsProgram)
          && fold.state[entry.follower.table].rows.isIdentical(to: entry.follower.rows)
          && state.folded.tables[entry.follower.table].rows.isIdentical(to: entry.follower.rows)
      }
      for (key, entry) in ready {
        state.followers[key] = nil
        guard let view = entry.follower.view else { continue }
        state.folded.tables.withTable(entry.follower.table) {
          if $0.view(view.definition.identity) == nil { $0.add(view) }
        }
      }
      return ready.values.map(\.follower)
    }
    for follower in taken {
      guard let view = follower.view else { continue }
      fold.state.withTable(follower.table) { if $0.view(view.definition.identity) == nil { $0.add(view) } }
      own.hasViews = true
      if view.definition.kept != nil { own.work.add(follower.nanoseconds) }
    }
  }

  /// Lets the views go on beside the fold that have left it.
  func takeLeft(_ fold: Fold, _ own: Exclusive) {
    if fold.restartCount != own.restartCount {
      own.restartCount = fold.restartCount
      makeAgain(viewsOf: state.withLock { $0.folded.tables }, fold)
    }
    guard own.meter.takeHasLeft() else { return }
    for table in fold.state.tables where !table.left.isEmpty {
      let left = fold.state.withTable(table.name) { $0.takeLeft() }
      state.withLock { state in
        for (view, rows) in left {
          let key = ViewKey(table.name, view.definition)
          let follower = ViewFollower(
            view, of: rows, in: table.name, head: fold.headAtBegin, log.options)
          state.followers[key] = Follower(follower: follower, keepsOn: view.definition.kept != nil)
          state.noteBuilt(key, in: state.published)
        }
      }
    }
  }

  /// Makes the saved views again that a fold lost because it began again.
  func makeAgain(viewsOf old: TableSet, _ fold: Fold) {
    for table in old.tables {
      for view in table.views where view.definition.kept != nil {
        guard fold.state[table.name].view(view.definition.identity) == nil else { continue }
        follow(view.definition, of: table.name, head: fold.headAtBegin, keepsOn: true)
      }
    }
  }

  /// A state with the views beside the fold that are to be saved: as they are if they are of its rows, otherwise as they
  /// were saved.
  func withFollowers(_ set: TableSet) -> TableSet {
    state.withLock { state in
      guard !state.followers.isEmpty else { return set }
      var set = set
      for (key, entry) in state.followers {
        guard let kept = entry.follower.definition.kept, state.keptViews.isLast(key, kept),
          entry.follower.head == state.exclusive.fold?.headAtBegin
        else { continue }
        let others = set[entry.follower.table].keptViews
        if !entry.isRunning, entry.follower.target == nil, let view = entry.follower.view,
          entry.follower.rows.isIdentical(to: set[entry.follower.table].rows)
        {
          set.withTable(entry.follower.table) { $0.add(view) }
        } else if let saved = entry.saved, !others.contains(where: { $0.definition.kept?.name == kept.name })
        {
          set.withTable(entry.follower.table) { $0.add(saved: saved) }
        }
      }
      return set
    }
  }

  /// Forgets what was on disk of views beside the fold that are on disk as they are in a state.
  func noteSaved(_ set: TableSet) {
    state.withLock { state in
      for (key, entry) in state.followers where entry.saved != nil {
        guard set[entry.follower.table].view(entry.follower.definition.identity) != nil else { continue }
        state.followers[key]?.saved = nil
      }
    }
  }

  /// Forgets what is on disk of a view beside the fold.
  func dropSaved(_ name: String, of table: String) {
    state.withLock { state in
      for (key, entry) in state.followers
      where key.table.elementsEqual(table.utf8) && entry.follower.definition.kept?.name == name {
        state.followers[key]?.saved = nil
      }
    }
  }
}

extension StoreOptions {
  /// The number of rows of a table from which views that the rows' bytes alone decide are built beside the folding. Those
  /// that call the program's code are always built there.
  package var viewBuildingMin: Int {
    get { self[PastOptions.self].viewBuildingMin }
    set { self[PastOptions.self].viewBuildingMin = newValue }
  }
}

// MARK: Following

extension Projector {
  /// Runs one slice of a view beside the fold. Returns true if there is more to do.
  func step(_ follower: ViewFollower, _ key: ViewKey) -> Bool {
    let (newest, ended, work) = state.withLock { state -> (TableSet?, Follower?, Work) in
      guard let entry = state.followers[key], entry.follower === follower else { return (nil, nil, Work()) }
      guard entry.follower.head == state.folded.head || state.published.sequence == 0 else {
        state.followers[key] = nil
        return (nil, entry, state.beginPass())
      }
      if state.isDue(key) { return (state.published, nil, Work()) }
      state.followers[key]?.isRunning = false
      return (nil, state.giveUp(key), Work())
    }
    start(work)
    withExtendedLifetime(ended) {}
    guard let newest else { return false }
    return follower.step(to: newest) ? answer(follower, key) : true
  }

  /// Answers the callers that wait for a view, which has caught up. Returns true if others wait for a later state.
  private func answer(_ follower: ViewFollower, _ key: ViewKey) -> Bool {
    guard let set = follower.take(), let view = follower.view else { return true }
    typealias Ready = (UnsafeContinuation<Answer, Never>, TableSet)
    let (ready, isMore, work, old) = state.withLock { state -> ([Ready], Bool, Work, Follower?) in
      guard let entry = state.followers[key], entry.follower === follower,
        follower.head == state.folded.head
      else { return ([], false, state.drop(follower, key), nil) }
      state.noteBuilt(key, in: set)
      state.followers[key]?.isSlow = entry.isSlow || follower.isSlow
      // One that is kept follows until the fold takes it in, though no caller waits any longer.
      if follower.definition.kept != nil, !entry.isSlow, !follower.isSlow {
        state.followers[key]?.keepsOn = true
      }
      if state.published[follower.table].rows.isIdentical(to: follower.rows),
        state.published[follower.table].view(follower.definition.identity) == nil
      {
        state.published.withTable(follower.table) { $0.add(view) }
      }
      let published = state.published
      var ready: [Ready] = state.waiters.take { $0.isTrue(of: published) }.map { ($0, published) }
      ready += state.waiters.take { $0.isTrue(of: set) }.map { ($0, set) }
      let isMore = state.isDue(key)
      state.followers[key]?.isRunning = isMore
      // One that is to be saved is saved by a pass.
      let isSaved =
        follower.definition.kept != nil && checkpoints != nil && !isMore && !log.options.writesInStep
      return (ready, isMore, isSaved ? state.beginPass() : Work(), entry)
    }
    for (continuation, set) in ready { continuation.resume(returning: .success(set)) }
    start(work)
    withExtendedLifetime(old) {}
    return isMore
  }
}

extension Projector.State {
  /// The newest state that meets a condition; nil if none does yet.
  func answer(to wish: Projector.Wish) -> TableSet? {
    if wish.isTrue(of: published) { return published }
    guard let (table, definition) = wish.view, wish.sequence <= published.sequence,
      let entry = followers[ViewKey(table, definition)], let set = entry.set, isOfNewest(entry)
    else { return nil }
    return wish.isTrue(of: set) ? set : nil
  }

  /// Whether what a follower answers with, and holds, is of the tables that are published: nothing was erased since.
  private func isOfNewest(_ entry: Projector.Follower) -> Bool { entry.follower.head == folded.head }

  /// Notes that a view beside the fold is built, if a state has it.
  mutating func noteBuilt(_ key: ViewKey, in set: TableSet) {
    guard let definition = followers[key]?.follower.definition,
      set.views(ofTable: key.table).contains(where: { $0.definition.identity == definition.identity })
    else { return }
    followers[key]?.built = set.sequence
    followers[key]?.set = holders[key] == nil ? nil : set
  }

  /// Lets go of the state that a view answers with which no list holds any longer. It is returned, to be released
  /// outside the lock.
  mutating func forgetAnswer(_ key: ViewKey) -> TableSet? {
    defer { followers[key]?.set = nil }
    return followers[key]?.set
  }

  /// Drops the followers, and the sets of followers, that are of tables which an erasure has replaced. They are returned,
  /// to be released outside the lock.
  mutating func dropReplaced() -> [Projector.Follower] {
    followers.filter { !isOfNewest($1) }.map { key, entry in
      followers[key]?.built = nil
      followers[key]?.set = nil
      // What a thread is at work on is dropped when its step ends.
      if !entry.isRunning { followers[key] = nil }
      return entry
    }
  }

  /// Whether another pass has something to do for a caller that waits.
  var needsPass: Bool { waiters.wishes.contains(where: needsPass) }

  private func needsPass(_ wish: Projector.Wish) -> Bool {
    guard wish.sequence <= published.sequence, let (table, definition) = wish.view else { return true }
    return followers[ViewKey(table, definition)] == nil
  }

  /// What is to begin for a caller that waits from now on.
  mutating func beginWork(for wish: Projector.Wish) -> Projector.Work {
    if needsPass(wish) { return beginPass() }
    guard let (table, definition) = wish.view else { return Projector.Work() }
    return Projector.Work(followers: begin(ViewKey(table, definition)).map { [$0] } ?? [])
  }

  /// Begins a pass if no thread folds.
  mutating func beginPass() -> Projector.Work {
    defer { isFolding = true }
    return isFolding ? Projector.Work() : Projector.Work(pass: exclusive)
  }

  /// Begins to work on the views that callers wait for, of the state that is published.
  mutating func beginFollowers() -> [(key: ViewKey, follower: ViewFollower)] {
    guard !followers.isEmpty else { return [] }
    let keys = Set(waiters.wishes.compactMap { $0.view.map { ViewKey($0.table, $0.definition) } })
    return followers.keys.filter { keys.contains($0) || goesOn($0) }.compactMap { begin($0) }
  }

  /// Whether a view goes on although no caller waits: it is saved, unless another one has taken its name.
  private func goesOn(_ key: ViewKey) -> Bool {
    guard let entry = followers[key], entry.keepsOn, let kept = entry.follower.definition.kept else {
      return false
    }
    return holders[key] != nil || keptViews.isLast(key, kept)
  }

  private mutating func begin(
    _ key: ViewKey
  ) -> (key: ViewKey, follower: ViewFollower)? {
    guard let entry = followers[key], isDue(key) else { return nil }
    entry.follower.slice.setWanted(true)
    guard !entry.isRunning else { return nil }
    followers[key]?.isRunning = true
    return (key, entry.follower)
  }

  /// Whether the newest state is to have a view that it lacks.
  func isDue(_ key: ViewKey) -> Bool {
    guard let entry = followers[key] else { return false }
    if goesOn(key), entry.built.map({ $0 < published.sequence }) ?? true { return true }
    return waiters.wishes.contains { wish in
      wish.sequence <= published.sequence
        && wish.view.map { ViewKey($0.table, $0.definition) == key } ?? false
    }
  }

  /// Gives up the views that no caller waits for any longer, unless they are built and a list holds them. What a thread
  /// is at work on is given up when its step ends, so that no other thread begins the same again. They are returned, to be
  /// released outside the lock.
  mutating func giveUpFollowers() -> [Projector.Follower] {
    guard !followers.isEmpty else { return [] }
    return followers.keys.compactMap { giveUp($0) }
  }

  mutating func giveUp(_ key: ViewKey) -> Projector.Follower? {
    guard let entry = followers[key], !goesOn(key) else { return nil }
    let isWanted = waiters.wishes.contains { wish in
      wish.view.map { ViewKey($0.table, $0.definition) == key } ?? false
    }
    if isWanted { return nil }
    guard !entry.isRunning else {
      entry.follower.slice.setWanted(false)
      return nil
    }
    // Before it is built, or without a lease. One that is saved needs none, and what is on disk is saved again.
    let isHeld = holders[key] != nil || entry.follower.definition.kept != nil
    guard entry.saved == nil, entry.built == nil || !isHeld else { return nil }
    followers[key] = nil
    return entry
  }

  /// Drops a view of a fold that began again.
  mutating func drop(_ follower: ViewFollower, _ key: ViewKey) -> Projector.Work {
    guard followers[key]?.follower === follower else { return Projector.Work() }
    followers[key] = nil
    return beginPass()
  }
}

// MARK: Progress

extension Projector {
  /// How far the state at a sequence with a view has come. O(1).
  package func progress(toward sequence: UInt64, with lease: ViewLease) -> StateProgress {
    state.withLock { state in
      if state.published.sequence >= sequence,
        let entry = state.followers[ViewKey(lease.table, lease.definition)]
      {
        let (done, count) = entry.follower.progress
        return .rows(done, of: count)
      }
      let reached = max(state.published.sequence, state.reached?.value ?? 0)
      return .events(Int(min(reached, sequence)), of: Int(sequence))
    }
  }

  /// The lists that show less than the newest state, since they are built or catch up beside the fold.
  var listsBehind: [ListBehind] {
    state.withLock { state in
      state.followers.values.compactMap { entry in
        let sequence = entry.built ?? 0
        guard sequence < state.published.sequence else { return nil }
        let definition = entry.follower.definition
        return ListBehind(table: entry.follower.table, name: definition.kept?.name, sequence: sequence)
      }
    }
  }
}
