// A fold that is inside of a view and does not come back.
//
// The program's code makes keys of rows, so a view that was quick for a million rows may take a minute for the next one,
// or never return. It cannot be stopped, and it has the fold. So another thread looks from time to time whether a fold is
// inside of the same change of the same view as it was ten milliseconds ago. If it is, that fold is given up as it is,
// with its thread: another one goes on from the state that was last published, without the view, which follows beside it
// for good. The first one finds out when the call returns, and ends.

internal import StrataBase
internal import StrataLog

extension Projector {
  /// What was seen of the fold.
  struct Watched {
    /// After so many folds that were given up, no view that calls the program's code joins the fold any longer: each of
    /// them keeps a thread for as long as its call does not return.
    static let givenUpCountMax = 4
    /// The looks without a fold after which nothing looks any longer.
    fileprivate static let idleCountMax = 100

    fileprivate(set) var givenUpCount = 0
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
    if begins { log.options.machine.watch.begin { [weak self] in self?.look() ?? false } }
  }

  /// Looks at the fold once. Returns false if there has been none for some time.
  private func look() -> Bool {
    let (goesOn, work, isGivenUp) = state.withLock { state -> (Bool, Work, Bool) in
      guard state.isFolding else {
        state.watched.last = nil
        state.watched.idleCount += 1
        state.watched.isOn = state.watched.idleCount < Watched.idleCountMax
        return (state.watched.isOn, Work(), false)
      }
      let now = state.exclusive.meter.now
      defer { state.watched.last = now }
      state.watched.idleCount = 0
      guard let now, now == state.watched.last else { return (true, Work(), false) }
      return (true, giveUpFold(now, &state), true)
    }
    start(work)
    if isGivenUp { state.signalAll() }
    return goesOn
  }

  /// Gives up the fold that is inside of a view, and lets another one go on.
  private func giveUpFold(_ moment: ViewMeter.Moment, _ state: inout State) -> Work {
    let folded = state.folded
    var begin = folded
    for table in folded.tables.tables {
      for view in table.views where moment.isInside(view.definition) {
        let follower = ViewFollower(
          view, of: table.rows, in: table.name, head: folded.head, log.options)
        state.followers[ViewKey(table.name, view.definition)] = Follower(
          follower: follower, isSlow: true, set: state.published)
        begin.tables.withTable(table.name) { $0.removeView(view.definition.identity) }
        state.exclusive.slice.setWanted(false)
        state.exclusive = Exclusive(log.options, begin: begin)
        state.watched.givenUpCount += 1
        state.isFolding = state.needsPass
        return Work(pass: state.isFolding ? state.exclusive : nil, followers: state.beginFollowers())
      }
    }
    return Work()
  }
}
