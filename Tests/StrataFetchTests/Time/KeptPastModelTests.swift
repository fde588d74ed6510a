// Kept lists at every event of a log, read from the keys that a history has: they are those of the naive model.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct KeptPastModelTests {
  /// The number of random histories. The environment variable `RUNS` asks for more.
  private static let runCount = max(
    500, ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 0)

  /// A request that fields alone define, so that a history has its keys.
  private static func request(_ random: inout SeededGenerator) -> ModelRequest {
    var request = ModelRequest.random(section: "s", &random)
    request.isFilterText = true
    request.nils = [.first, .last, .required].randomElement(using: &random)!
    let values: [DocumentValue] = [.string("x"), .string("never"), .int(2), .null]
    if Bool.random(using: &random) { request.declared = [values.randomElement(using: &random)!] }
    // A list with both is refused.
    if request.nils == .required { request.declared.removeAll { $0.isNull } }
    if Int.random(in: 0..<3, using: &random) == 0 {
      request.order = .extreme(
        "k", isMaximum: Bool.random(using: &random), isDescending: Bool.random(using: &random))
    }
    return request
  }

  @Test
  func `R69 A kept list at every event, and what changed between two, is as in the model`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (lists: 0, orders: Set<String>(), declared: 0, windows: 0, filters: 0, items: 0, changes: 0)
    for run in 0..<Self.runCount {
      var log = try RandomLog(options: KeptPastListTests.options(&random), &random)
      let model = Self.request(&random)
      let request = model.request.kept(as: "kept")
      let rows = log.store.documents("t").table
      let list = try request.compiled(decode: rows.decode)
      func states(_ points: [UInt64], _ counter: PastCounter = PastCounter()) throws -> [TableSet] {
        let replay = PastPoints(
          log.store, rows.folding, to: points.map { .sequence($0) }, view: (rows.name, list.definition),
          counting: counter)
        return try #require(try replay.resume(nil))
      }
      // The list is asked for before there are runs, between them, or after all of them.
      let count = Int.random(in: 2...14, using: &random)
      let asked = Int.random(in: 0..<count, using: &random)
      for number in 0..<count {
        try log.append(Int.random(in: 1...6, using: &random), &random)
        if number == asked { _ = try states([1]) }
        if Bool.random(using: &random) { _ = try log.store.recordHistoriesBlocking() }
      }
      _ = try log.store.recordHistoriesBlocking()
      // The same without a history: the list that follows a fold of the log.
      let fold = Fold(log.store.log, rows.folding)
      fold.addView(list.definition, of: rows.name)
      var snapshots: [ListSnapshot<DocumentRow, DocumentValue>] = []
      var folded: [ListSnapshot<DocumentRow, DocumentValue>] = []
      for point in 1...log.head {
        let counter = PastCounter()
        let state = try states([point], counter)[0]
        try #require(counter.counts == PastCounts(states: 1, fromHistory: 1), "run \(run), at \(point)")
        let snapshot = request.snapshot(of: state, rows, list)
        try #require(
          ModelList(snapshot.version) == ModelList(model, of: log.models[Int(point)]),
          "run \(run), at \(point) of \(log.head): \(model)")
        snapshots.append(snapshot)
        try fold.run(through: point)
        folded.append(request.snapshot(of: fold.state, rows, list))
        met.items += snapshot.numberOfItems
      }
      met.lists += snapshots.count
      for _ in 0..<4 {
        let places = (0..<2).map { _ in Int.random(in: snapshots.indices, using: &random) }
        let (from, to) = (snapshots[places[0]], snapshots[places[1]])
        let changes = ListChanges(from: from, to: to)
        let expected = ListChanges(from: folded[places[0]], to: folded[places[1]])
        try #require(changes == expected, "run \(run), from \(from.sequence) to \(to.sequence)")
        let shown = try ArrayList(from).applying(changes)
        try #require(shown == ArrayList(to), "run \(run), from \(from.sequence) to \(to.sequence)")
        met.changes += changes.changedItems.count + changes.moves.count + changes.insertions.count
      }
      met.orders.insert("\(model.order)".prefix { $0 != "(" }.description)
      met.declared += model.declared.isEmpty ? 0 : 1
      met.windows += model.window != .all || model.sectionWindow != .all ? 1 : 0
      met.filters += model.flag == nil ? 0 : 1
      try log.store.closeBlocking()
    }
    print("kept lists of the past: \(met)")
    #expect(
      met.lists > 10 * Self.runCount && met.orders.count == 6 && met.declared > Self.runCount / 4
        && met.windows > Self.runCount / 4 && met.filters > Self.runCount / 8
        && met.items > 2 * met.lists && met.changes > Self.runCount, "\(met)")
  }
}
