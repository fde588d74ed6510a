// What a historian knows, and who works on it, as a value: it takes no locks, never waits and opens no file.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The state of a historian. Each method is one transition. Those that may be refused return whether they were made.
///
/// One thread has the turn. It works in steps, during which it alone uses `HistoryWork`; what takes the files' room has a
/// step without a turn. No turn is begun in the background while somebody stops the work.
///
/// | turn  | start | take  | end  |
/// |-------|-------|-------|------|
/// | free  | taken | taken |      |
/// | taken |       |       | free |
///
/// What is known of the files on disk:
///
/// | files   | damaged | published | erased |
/// |---------|---------|-----------|--------|
/// | sound   | damaged |           |        |
/// | damaged | givenUp | madeAgain | sound  |
/// | madeAgain | givenUp |         | sound  |
/// | givenUp |         |           | sound  |
///
/// Damage, an erasure, a full disk and a stop raise the generation: nothing that was made in another one is published.
struct HistorianState {
  enum Files {
    /// No run was damaged that this process used, or what was is gone.
    case sound
    /// They are to be removed before anything else.
    case damaged
    /// They were damaged, and then made again from the log.
    case madeAgain
    /// They were damaged again: either the disk or this code is broken. They are removed, and no more are made.
    case givenUp
  }

  private(set) var files = Files.sound
  private(set) var isRunning = false
  private(set) var isInStep = false
  /// How many calls end the work: two of a close and a suspension may come at once.
  private var stopCount = 0
  /// Raised when nothing that was made before may be used any longer.
  private(set) var generation = 0
  /// The last event that was folded in.
  private(set) var reached: UInt64 = 0
  /// The runs that reads use; nil before the folder was looked at, and while nothing is known to hold.
  private(set) var runs: RunSet?
  /// What was last asked for of the events after these runs.
  private(set) var tail: HistoryTail?
  /// Why the last step failed.
  var failure: StoreError?
  /// The lists that were asked for.
  private(set) var lists: [KeyOwner] = []
  /// Those whose code made other keys of the same rows: no more of them are made as long as there are these runs, until
  /// the process ends.
  private(set) var leftOut: [KeyOwner] = []
  /// Whether a run may lack the keys of a list.
  var mayLackKeys = true
  /// The newest state that the projector published.
  var published: PublishedState?
  /// Whether something asked for the work to begin.
  var isWanted = false
  var begins = HistoryBegins()

  var isStopping: Bool { stopCount > 0 }
  var isGivenUp: Bool { files == .givenUp }
  /// Whether the files are to be removed, whatever is in them.
  var isDamaged: Bool { files == .damaged || isGivenUp }
  /// Those of the lists whose keys the runs are to have.
  var keptLists: [KeyOwner] { lists.filter { list in !leftOut.contains { $0.number == list.number } } }
}

// MARK: Turns

extension HistorianState {
  /// Begins a turn in the background, if there may be something to do.
  ///
  /// - Parameter last: the last event of the log.
  mutating func start(through last: UInt64, isSuspended: Bool) -> Bool {
    isWanted = true
    guard !isSuspended, !isStopping, !isGivenUp, mayLackKeys || reached < last else { return false }
    return takeTurn()
  }

  mutating func takeTurn() -> Bool {
    if isRunning { return false }
    isRunning = true
    return true
  }

  mutating func endTurn() {
    assert(isRunning, "a turn ends that nobody has")
    isRunning = false
  }

  mutating func beginStep() -> Bool {
    if isInStep { return false }
    isInStep = true
    return true
  }

  mutating func endStep() {
    assert(isInStep, "a step ends that was not begun")
    isInStep = false
  }

  mutating func stop() { stopCount += 1 }

  mutating func mayGoOn() {
    assert(isStopping, "the work begins again that was not stopped")
    stopCount -= 1
  }
}

// MARK: Files

extension HistorianState {
  /// Makes runs those that reads use, unless they are of another generation.
  mutating func publish(_ runs: RunSet, of made: Int) {
    guard made == generation else { return }
    self.runs = runs
    tail = tail?.after(runs)
    if files == .damaged { files = .madeAgain }
    // What is made from the first event on is made with one code.
    if runs.runs.isEmpty { leftOut = [] }
  }

  /// Notes a merge, whose run may have lost keys, so that those before it get theirs first. The keys in memory do not go on
  /// from keys that the program's code has made again.
  mutating func noteMerged(makesKeysOfProgram: Bool) {
    mayLackKeys = true
    if makesKeysOfProgram { tail = nil }
  }

  /// Notes what a step has reached.
  mutating func publish(_ tail: HistoryTail? = nil, reached: UInt64, of made: Int) -> Bool {
    guard made == generation else { return false }
    if let tail { self.tail = tail }
    self.reached = reached
    return true
  }

  mutating func forget() {
    generation += 1
    (runs, tail, published) = (nil, nil, nil)
    reached = 0
  }

  mutating func noteDamage() {
    switch files {
    case .sound: files = .damaged
    case .damaged, .madeAgain, .givenUp: files = .givenUp
    }
    generation += 1
    (runs, tail) = (nil, nil)
    reached = 0
  }

  /// An erasure has removed the files, and what was read while they were removed was no damage.
  mutating func noteErased() {
    files = .sound
  }
}

// MARK: Lists

extension HistorianState {
  mutating func keep(_ definition: ViewDefinition, of table: String) {
    if lists.keep(definition, of: table) { mayLackKeys = true }
  }

  mutating func leaveOut(_ list: KeyOwner) {
    assert(list.isMadeByProgram, "keys that no code of the program makes are other ones")
    leftOut.append(list)
  }
}
