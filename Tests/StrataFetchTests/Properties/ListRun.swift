// One random run: a history of commits under a request, and everything that must hold of its lists and batches.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables
internal import StrataTesting

/// A random schema, a random request, and one to three commits, with one batch for each:
///
/// - after each commit the list is the naive one, the batch makes it of the one before and obeys the laws, every
///   emitter shows it, and the diff of the two lists as values agrees with it;
/// - the batch over all commits is checked alike, and is the one to the end state made of its rows alone;
/// - at three random points of the past, the list made of the rows of that moment alone is the naive one, and
///   the batches from there to the newest list and back are checked alike, but only one of them by the emitters,
///   which take most of the time.
struct ListRun {
  private var random: SeededGenerator
  private var history: ListHistory
  private var request: ModelRequest
  private var compiled: CompiledList
  private var moments: [ListHistory.Moment] = []
  private var shown: [ModelledList] = []
  private var bytes: [UInt8] = []
  private(set) var classes: Set<ListRunClass> = []
  private(set) var batchCount = 0
  private(set) var commitCount = 0
  private(set) var itemCount = 0
  private(set) var changeCount = 0

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    history = ListHistory(&random)
    request = history.schema.request(&random)
    compiled = try request.compiled()
    if history.schema.isTyped { classes.insert(.typed) }
    let paths = request.sorts.map(\.field) + [request.section ?? ""]
    if paths.contains(where: { $0.contains(".") }) { classes.insert(.nested) }
  }

  /// The digest of all batches.
  mutating func run() throws -> UInt64 {
    history.add(compiled.definition)
    try remember()
    // Where the table was empty before, the first commit is one as well.
    if Int.random(in: 0..<8, using: &random) > 0 {
      history.fill()
      (moments, shown) = ([], [])
      try remember()
    }
    for _ in 0..<Int.random(in: 1...3, using: &random) { try step() }
    try checkAllCommits()
    for number in 0..<3 { try checkPast(byEmitters: number == 0) }
    return XXH64.of(bytes)
  }

  private mutating func remember() throws {
    moments.append(history.now)
    shown.append(try ModelledList(history.now, request, compiled))
  }

  /// One commit; now and then the window moves in the same step, or the request is another one.
  private mutating func step() throws {
    history.commit()
    switch Int.random(in: 0..<12, using: &random) {
    case 0: (request.window, request.sectionWindow) = history.schema.windows(&random)
    case 1:
      // A list with sections stays one: its type says so.
      request = history.schema.request(isSectioned: request.section != nil, &random)
    default: return try checkStep()
    }
    classes.insert(.requestChanged)
    compiled = try request.compiled()
    history.add(compiled.definition)
    try checkStep()
  }

  private mutating func checkStep() throws {
    try remember()
    let batch = try check(from: shown[shown.count - 2], to: shown[shown.count - 1])
    classes.add(batch.diff, from: shown[shown.count - 2], to: shown[shown.count - 1])
    commitCount += 1
    itemCount += shown[shown.count - 1].version.itemCount
    changeCount += batch.changes.count
  }

  /// What was read at each commit in between leaves no trace in the batch over all of them.
  private mutating func checkAllCommits() throws {
    let coalesced = try check(from: shown[0], to: shown[shown.count - 1])
    let end = try ModelledList(
      history.rebuilt(moments[moments.count - 1], with: compiled.definition), request, compiled)
    let direct = try CheckedBatch(from: shown[0], to: end)
    try ListFailure.unless(
      direct.diff == coalesced.diff,
      "the batch over all commits is not that of the end points\n\(coalesced.diff)\n\(direct.diff)")
  }

  private mutating func checkPast(byEmitters: Bool) throws {
    let place = Int.random(in: 0..<moments.count, using: &random)
    let past = try ModelledList(history.rebuilt(moments[place], with: compiled.definition), request, compiled)
    let now = shown[shown.count - 1]
    if past.list != now.list { classes.insert(.past) }
    let there = try check(from: past, to: now, byEmitters: byEmitters)
    let back = try check(from: now, to: past, byEmitters: false)
    // Item by item the one is the other turned around.
    let isInverse =
      there.departures == back.arrivals && there.arrivals == back.departures
      && there.changes.moves.count == back.changes.moves.count
      && Set(there.changes.changedItems) == Set(back.changes.changedItems)
    try ListFailure.unless(isInverse, "the way back is another one\n\(there.diff)\n\(back.diff)")
  }

  private mutating func check(
    from old: ModelledList, to new: ModelledList, byEmitters: Bool = true
  ) throws -> CheckedBatch {
    let batch = try CheckedBatch(from: old, to: new)
    if byEmitters { try batch.checkEmitters() }
    try batch.checkSnapshots()
    batch.encode(to: &bytes)
    batchCount += 1
    return batch
  }
}
