// Who works on a history, and what gives its room back when nobody does.

internal import StrataBase
internal import StrataLog

extension Historian {
  /// How long an append or an erasure that needs the room of what the fold has waits for a step to end. A step writes
  /// little from then on.
  private static let dropTime = Duration.seconds(1)

  func takeTurn() { state.wait { $0.takeTurn() } }

  /// Returns false if the background thread has more to do than that: it merges runs, or adds the keys of a list.
  func takeTurn(within limit: Duration) -> Bool { state.wait(timeout: limit) { $0.takeTurn() } }

  func endTurn() {
    state.withLock { $0.endTurn() }
    state.signalAll()
  }

  /// Runs a body that uses `work`. The caller has the turn. What was forgotten meanwhile is freed at the end.
  func step<Result>(_ body: () -> Result) -> Result {
    state.wait { $0.beginStep() }
    defer { endStep() }
    assert(state.withLock { $0.isRunning }, "a step is run without the turn")
    return body()
  }

  private func endStep() {
    while true {
      let isDone = state.withLock { state in
        guard work.isOf(state.generation) else { return false }
        state.endStep()
        return true
      }
      if isDone { break }
      work.reset()
    }
    state.signalAll()
  }

  /// Forgets what is known, and closes the file that the fold may have, also between two steps of work that goes on.
  func drop() {
    forget()
    // On a simulated disk, the step that goes on may be one of this thread. One that takes longer does it at its end.
    let limit = log.options.writesInStep ? Duration.zero : Self.dropTime
    if state.wait(timeout: limit, until: { $0.beginStep() }) { endStep() }
  }

  // MARK: Memory

  /// How many bytes of pages the fold has in memory beside the cache; nil if there is no bound, as without saved states.
  /// Where rows change at random and few of their pages are in memory, each event reads one and writes it again.
  var spillLimit: Int? {
    checkpoints == nil ? nil : log.options.unsavedSize ?? 4 * min(log.options.pageCacheSize, .max / 4)
  }

  /// A file for what is beyond that. It takes no more once something was forgotten, or an append has needed room.
  func makeSpillFile(_ generation: Int) -> SpillFile? {
    guard let checkpoints, let space = log.derivedSpace else { return nil }
    let removalCount = space.removalCount
    return SpillFile(
      checkpoints.cache,
      makeFile: { [files] () throws(StoreError) in
        try files.createFolder()
        return try files.scratchFile()
      },
      write: { [state] (file, bytes, offset) throws(StoreError) in
        try space.write { () throws(StoreError) in
          try space.checkRoom(since: removalCount)
          guard state.withLock({ $0.generation }) == generation else { throw .closed }
          try file.write(bytes, at: offset)
        }
      })
  }
}
