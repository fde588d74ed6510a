// One random run: a history of commits under a request, and all checks of its lists and batches.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting

/// A random schema, a random request, and one to three commits, with one batch for each:
///
/// - After each commit, the list equals the naive one. The batch turns the previous list into it and obeys the laws,
///   every emitter shows it, and the difference of the two lists as snapshots agrees with it.
/// - The batch over all commits is checked in the same way, and equals the batch to a state that is built from the last
///   rows alone.
/// - At three random points of the past, the list that is built from the rows of that moment alone equals the naive
///   one. The batches from there to the newest list and back are checked in the same way, but only one of them by the
///   emitters, which take most of the time.
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
    // Usually the table is filled before the first commit; otherwise the history begins with an empty table.
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

  /// Makes one commit. Sometimes the window moves in the same step, or the request changes.
  private mutating func step() throws {
    history.commit()
    switch Int.random(in: 0..<12, using: &random) {
    case 0: (request.window, request.sectionWindow) = history.schema.windows(&random)
    case 1:
      // A list with sections keeps having sections, because that is part of its type.
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

  /// Checks that reading the list at each commit in between does not affect the batch over all of them.
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
    // For each item, one batch is the inverse of the other.
    let isInverse =
      there.departures == back.arrivals && there.arrivals == back.departures
      && there.changes.moves.count == back.changes.moves.count
      && Set(there.changes.changedItems) == Set(back.changes.changedItems)
    try ListFailure.unless(isInverse, "the way back is not the inverse\n\(there.diff)\n\(back.diff)")
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
