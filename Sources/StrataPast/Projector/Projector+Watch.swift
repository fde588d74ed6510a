// A fold that is inside of a view and does not come back.
//
// The program's code makes keys of rows, so a view that was quick for a million rows may take a minute for the next one,
// or never return. It cannot be stopped, and it has the fold. So another thread looks from time to time whether a fold is
// inside of the same change of the same view as it was ten milliseconds ago. If it is, that fold is given up as it is,
// with its thread: another one goes on from the state that was last published, without the views that call the program's
// code. The one that held it up follows beside it for good. The first fold finds out when the call returns, and ends.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension Projector {
  /// What was seen of the fold.
  struct Watched {
    /// Once that many folds were given up, no view that calls the program's code joins the fold any longer: each of
    /// those folds keeps a thread for as long as its call does not return.
    static let givenUpCountMax = 4
    /// The looks without a fold after which nothing looks any longer.
    fileprivate static let idleCountMax = 100

    fileprivate(set) var givenUpCount = 0
    /// Whether views that call the program's code stay beside the fold.
    var isCautious: Bool { givenUpCount >= Self.givenUpCountMax }
    fileprivate var isOn = false
    fileprivate var idleCount = 0
    fileprivate var last: ViewMeter.Moment?
  }

  /// Begins to look at the fold, unless that is done already or it has no views.
  func watch(_ own: Exclusive) {
    // A simulated disk sees the calls of one thread only.
    guard own.hasViews, !log.options.writesInStep else { return }
    let begins = state.withLock { state in
      state.watched.idleCount = 0
      defer { state.watched.isOn = true }
      return !state.watched.isOn
    }
    guard begins, !log.options.machine.watch.begin({ [weak self] in self?.look() ?? false }) else { return }
    // The next pass tries again.
    state.withLock { $0.watched.isOn = false }
  }

  /// Looks at the fold once. Returns false if there has been none for some time.
  func look() -> Bool {
    let (goesOn, work, given) = state.withLock { state -> (Bool, Work, Exclusive?) in
      guard state.isFolding else {
        state.watched.last = nil
        state.watched.idleCount += 1
        state.watched.isOn = state.watched.idleCount < Watched.idleCountMax
        return (state.watched.isOn, Work(), nil)
      }
      let now = state.exclusive.meter.now
      defer { state.watched.last = now }
      state.watched.idleCount = 0
      guard let now, now == state.watched.last else { return (true, Work(), nil) }
      let own = state.exclusive
      let work = giveUpFold(now, &state)
      return (true, work, state.exclusive === own ? nil : own)
    }
    if let given {
      threads.giveUp(given.slice)
      state.signalAll()
    }
    start(work)
    return goesOn
  }

  /// Gives up the fold that is inside of a view, and lets another one go on from what was published last.
  ///
  /// Without that view only, it would soon be inside of another one that the same row holds up, and so on: nothing
  /// would be published meanwhile. So all views leave that call the program's code. Those that are prompt join again once
  /// they have followed past that state.
  private func giveUpFold(_ moment: ViewMeter.Moment, _ state: inout State) -> Work {
    let folded = state.folded
    let isKnown = folded.tables.tables.contains { $0.views.contains { moment.isInside($0.definition) } }
    guard isKnown else { return Work() }
    for table in folded.tables.tables {
      for view in table.views where view.definition.callsProgram || moment.isInside(view.definition) {
        let key = ViewKey(table.name, view.definition)
        // What left the fold since then is there already.
        guard state.followers[key] == nil else { continue }
        let follower = ViewFollower(view, of: table.rows, in: table.name, head: folded.head, log.options)
        let isHeldUp = moment.isInside(view.definition)
        state.followers[key] = Follower(
          follower: follower, isSlow: isHeldUp, joinsAfter: folded.tables.sequence,
          keepsOn: view.definition.kept != nil && !isHeldUp)
        state.noteBuilt(key, in: state.published)
      }
    }
    var begin = folded
    for entry in state.followers.values {
      begin.tables.withTable(entry.follower.table) { $0.removeView(entry.follower.definition.identity) }
    }
    state.exclusive.slice.setWanted(false)
    // A thread that is inside of a view changes nothing of its work.
    state.exclusive = Exclusive(log.options, begin: begin, state.exclusive.work)
    state.watched.givenUpCount += 1
    state.isFolding = state.needsPass
    return Work(pass: state.isFolding ? state.exclusive : nil, followers: state.beginFollowers())
  }
}
