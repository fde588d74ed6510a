// What one more question costs of a point that was asked about before: a screen holds what it shows.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables

extension StrataPast {
  /// Questions of lists that are held, at points anywhere in a store.
  ///
  /// Each is asked once of each list, about another place than the one that the list was first asked about.
  static func held(_ store: PastStore, _ rounds: Int) async throws {
    print("  a list of the past that is held, cached")
    readIntoPageCache(path(in: store.folder))
    let past = try await StrataPast(store.folder)
    var random = FixedGenerator(seed: 41)
    let shape = store.shape
    var times: [String: [Double]] = [:]
    func ask(_ name: String, _ body: () -> Int) {
      let start = ContinuousClock.now
      precondition(body() >= 0)
      times[name, default: []].append(start.secondsSince)
    }
    for _ in 0..<rounds {
      let point = Int.random(in: min(1_000, shape.eventCount)...shape.eventCount, using: &random)
      let snapshot = try await past.list.snapshot(at: .sequence(UInt64(point)))
      func someID() -> Int {
        PastRow.firstID + Int.random(in: 0..<shape.rowCount(after: point), using: &random)
      }
      func somePage() -> Range<Int> {
        let length = min(PastQuestion.pageLength, snapshot.numberOfItems)
        let first = Int.random(in: 0...snapshot.numberOfItems - length, using: &random)
        return first..<first + length
      }
      // The first question about a place makes more than those after it.
      _ = (snapshot.indexOfItem(someID()), snapshot.itemIdentifiers(in: somePage()))
      let (id, page) = (someID(), somePage())
      ask("the rank of another item") { snapshot.indexOfItem(id) ?? -1 }
      ask("twenty ids somewhere else") { snapshot.itemIdentifiers(in: page).count }
      ask("the counts of all sections") {
        (0..<snapshot.numberOfSections).reduce(0) { $0 + snapshot.numberOfItems(inSectionAt: $1) }
      }
    }
    try await past.close()
    for (name, aim) in [
      ("the rank of another item", 10e-6), ("twenty ids somewhere else", 40e-6),
      ("the counts of all sections", 20e-6),
    ] {
      let times = times[name] ?? []
      report(
        "  \(name)",
        "\(microseconds(median(times))) p99 \(microseconds(percentile(99, times)))   "
          + "aim \(microseconds(aim)), \(ratio(median(times), aim)) of it   (\(times.count))")
    }
  }
}
