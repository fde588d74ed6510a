// Functions of a request that read a clock: no list made with them contradicts itself.

internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataFetch
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite(.serialized) struct ImpureRequestTests {
  /// Checks what must hold for a list however its request behaves.
  private func check<Item, Section>(
    _ list: ListSnapshot<Item, Section>, rows: Set<Int>, isFiltered: Bool, _ context: String
  ) throws where Item.ID == Int {
    func law(_ holds: Bool, _ what: @autoclosure () -> String) throws {
      if !holds { throw ListFailure("\(context), at \(list.sequence): \(what())") }
    }
    let ids = list.itemIdentifiers
    try law(Set(ids).count == ids.count, "an id is listed twice: \(ids)")
    try law(Set(ids).isSubset(of: rows), "the list has rows that do not exist: \(Set(ids).subtracting(rows))")
    try law(ids.count == list.numberOfItems, "\(ids.count) ids of \(list.numberOfItems) items")
    let view = list.version.view
    var sum = 0
    for place in 0..<view.sectionCount {
      sum += view.withSection(at: place) { section, count in
        // Checks the count of a section against its items.
        let ranks = view.items.ranks(withPrefix: section)
        return count == ranks.count ? count : -1_000_000
      }
    }
    try law(sum == view.count, "the sections count \(sum) items of \(view.count)")
    if !isFiltered {
      try law(view.count + view.problems.count == rows.count, "\(view.count) items of \(rows.count) rows")
    }
    if view.definition.holdsValues {
      try law(view.values.count == view.count, "\(view.values.count) values of \(view.count) items")
    }
    for id in rows {
      guard let place = list.index(of: id) else {
        try law(!ids.contains(id), "\(id) is listed, but not found")
        continue
      }
      try law(list.itemIdentifier(at: place) == id, "\(id) is not where it is found: \(place)")
      try law(
        list.row(at: place)?.id == nil || list.row(at: place)?.id == id, "another row at \(place)")
    }
    try law(!list.contains(-1), "a row that never existed is found")
  }

  /// Applies random appends, and checks each list and each difference.
  private func run<Section>(
    _ name: String, _ request: ListRequest<ImpureRow, Section>, interval: Int, appends: Int,
    _ random: inout SeededGenerator
  ) async throws {
    ImpureClock.start(ticksEvery: interval)
    let store = EventStore.inMemory(clock: .fixed)
    let collection = store.collection("row", of: ImpureRow.self)
    let controller = FetchController(request, from: collection)
    var rows: [Int: ImpureRow] = [:]
    var before = try await controller.performFetch()
    let isFiltered = !request.filters.isEmpty || name.contains("required")
    for step in 0..<appends {
      let isLast = step == appends - 1
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let id = Int.random(in: 0..<12, using: &random)
        if isLast || Int.random(in: 0..<4, using: &random) == 0 {
          guard rows.removeValue(forKey: id) != nil else { continue }
          try await collection.delete(id)
        } else {
          var row = rows[id] ?? ImpureRow(id: id, number: 0, text: "")
          if Bool.random(using: &random) { row.number = Int.random(in: 0..<9, using: &random) }
          row.text = "t\(Int.random(in: 0..<4, using: &random))"
          rows[id] = row
          try await collection.put(row)
        }
      }
      if Int.random(in: 0..<3, using: &random) == 0 { ImpureClock.tick() }
      if isLast {
        for id in rows.keys { try await collection.delete(id) }
        rows = [:]
      }
      // Some lists skip states, so that one difference covers several appends.
      if !isLast, Int.random(in: 0..<3, using: &random) == 0 { continue }
      let after = try await controller.performFetch()
      let context = "\(name), every \(interval), step \(step)"
      try check(after, rows: Set(rows.keys), isFiltered: isFiltered, context)
      try checkChanges(from: before, to: after, context)
      try checkChanges(from: after, to: before, context)
      before = after
    }
    #expect(before.numberOfItems == 0 && before.version.view.count == 0)
    #expect(before.numberOfProblems == 0, "\(name): \(before.problems)")
    try await checkPast(controller, store, name, &random)
  }

  private func checkChanges<Section>(
    from before: ListSnapshot<ImpureRow, Section>, to after: ListSnapshot<ImpureRow, Section>,
    _ context: String
  ) throws {
    let (old, new) = (ModelList(before.version), ModelList(after.version))
    let made: ModelList
    do throws(ModelError) {
      made = try old.applying(ListDiff(from: before.version, to: after.version), toward: new)
    } catch {
      throw ListFailure("\(context): the changes do not fit: \(error)\n\(old)\n\(new)")
    }
    try ListFailure.unless(made == new, "\(context): the changes make \(made) of\n\(old), not\n\(new)")
  }

  /// Checks the same lists in the past, back and forth.
  private func checkPast<Section>(
    _ controller: FetchController<ImpureRow, Section>, _ store: EventStore, _ name: String,
    _ random: inout SeededGenerator
  ) async throws {
    let scrubber = try controller.scrubber()
    for _ in 0..<6 {
      let sequence = UInt64.random(in: 0...store.head.sequence, using: &random)
      let isHead = Int.random(in: 0..<4, using: &random) == 0
      let update =
        try await scrubber.move(to: isHead ? .head : .sequence(sequence))
      guard let before = update.before else { continue }
      try checkChanges(from: before, to: update.after, "\(name) in the past")
      let ids = update.after.itemIdentifiers
      try ListFailure.unless(Set(ids).count == ids.count, "\(name): an id is listed twice in the past")
    }
  }

  @Test func `fault 53: no list contradicts itself, whichever function of its request reads a clock`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for (name, request) in ImpureRequests.all {
      // The clock ticks only between two appends, at every third read, or at every read.
      for interval in [0, 3, 1] {
        for _ in 0..<2 { try await run(name, request, interval: interval, appends: 20, &random) }
      }
    }
  }

  @Test
  func `fault 53: no list contradicts itself where a row decodes to another item every time, or to none`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for isFiltered in [false, true] {
      ImpureClock.start(ticksEvery: 2)
      let store = EventStore.inMemory()
      let rows = store.collection("row", of: ImpureRow.self)
      var request = ListRequest(ImpureItem.self).sectioned(by: \.day).sorted(by: \.day)
      if isFiltered { request = request.filtered { $0.day != 5 } }
      let list = FetchController(request, from: store.collection("row", of: ImpureItem.self))
      var before = try await list.performFetch()
      var ids: Set<Int> = []
      for step in 0..<100 {
        let id = Int.random(in: 0..<10, using: &random)
        if Bool.random(using: &random) {
          try await rows.put(ImpureRow(id: id, number: step, text: ""))
          ids.insert(id)
        } else if ids.remove(id) != nil {
          try await rows.delete(id)
        }
        let after = try await list.performFetch()
        let shown = after.itemIdentifiers
        try ListFailure.unless(
          Set(shown).count == shown.count && Set(shown).isSubset(of: ids), "\(shown) of \(ids)")
        let (old, new) = (ModelList(before.version), ModelList(after.version))
        let made = try old.applying(ListDiff(from: before.version, to: after.version), toward: new)
        try ListFailure.unless(made == new, "\(made) of \(old), not \(new)")
        before = after
      }
    }
  }

  @Test
  func
    `R76 A row whose key changed though it did not is shown by its new key, and reported until it is removed`()
    async throws
  {
    ImpureClock.start(ticksEvery: 0)
    let store = EventStore.inMemory()
    let rows = store.collection("row", of: ImpureRow.self)
    try await rows.put((0..<5).map { ImpureRow(id: $0, number: 0, text: "a") })
    let list = FetchController(
      ListRequest(ImpureRow.self).sectioned(by: \.dayLabel).filtered { $0.isDue }, from: rows)
    let first = try await list.performFetch()
    #expect(first.numberOfProblems == 0)
    ImpureClock.tick()
    try await rows.put((0..<5).map { ImpureRow(id: $0, number: 0, text: "b") })
    let second = try await list.performFetch()
    #expect(
      second.itemIdentifiers.sorted() == (0..<5).filter { ImpureRow(id: $0, number: 0, text: "").isDue })
    for id in second.itemIdentifiers {
      #expect(
        second.sectionIdentifier(containingItem: id) == ImpureRow(id: id, number: 0, text: "b").dayLabel)
    }
    #expect(second.problems.map(\.id) == ["0", "1", "2", "3", "4"])
    let sentences = Set(second.problems.compactMap { $0.what.split(separator: ":").first })
    #expect(
      sentences == [
        "its key changed although the row did not", "it is now left out although the row did not change",
        "it is now shown although the row did not change",
      ])
    for id in 0..<5 { try await rows.delete(id) }
    #expect(try await list.performFetch().numberOfProblems == 0)
  }

  @Test func `fault 53: sections that a replay orders otherwise move, though none of their rows changed`()
    async throws
  {
    let stored = ListRequest(ImpureRow.self).sectioned(by: \.section)
    let orders = [
      stored.sectionsOrdered(byMinimumOf: \.shift), stored.sectionsOrdered(byMaximumOf: \.shift),
      stored.sectionsOrdered { (section: String?) in (section == "section 1" ? 3 : 0) * ImpureClock.now },
    ]
    for request in orders {
      ImpureClock.start(ticksEvery: 0)
      let rows = EventStore.inMemory().collection("row", of: ImpureRow.self)
      for (id, number) in [(1, 1), (2, 5), (3, 0)] {
        try await rows.put(ImpureRow(id: id, number: number, text: "a"))
      }
      let list = FetchController(request, from: rows)
      let before = try await list.snapshot(at: .sequence(2))
      ImpureClock.tick()
      let after = try await list.snapshot(at: .sequence(3))
      let common = after.sectionIdentifiers.filter { before.sectionIdentifiers.contains($0) }
      #expect(common == before.sectionIdentifiers.reversed())
      try checkChanges(from: before, to: after, "forth")
      try checkChanges(from: after, to: before, "back")
    }
  }

  @Test
  func `fault 53: a section whose rows went and came back as they were moves where it is put elsewhere`()
    async throws
  {
    let stored = ListRequest(ImpureRow.self).sectioned(by: \.section)
    let orders = [
      stored.sectionsOrdered(byMinimumOf: \.shift),
      stored.sectionsOrdered { (section: String?) in (section == "section 1" ? 3 : 0) * ImpureClock.now },
    ]
    for request in orders {
      ImpureClock.start(ticksEvery: 0)
      let rows = EventStore.inMemory().collection("row", of: ImpureRow.self)
      let first = ImpureRow(id: 1, number: 1, text: "a")
      try await rows.put(first)
      try await rows.put(ImpureRow(id: 2, number: 5, text: "a"))
      let list = FetchController(request, from: rows)
      let before = try await list.performFetch()
      try await rows.put(ImpureRow(id: 1, number: 5, text: "a"))
      ImpureClock.tick()
      try await rows.put(first)
      let after = try await list.performFetch()
      #expect(after.sectionIdentifiers == before.sectionIdentifiers.reversed())
      try checkChanges(from: before, to: after, "forth")
      try checkChanges(from: after, to: before, "back")
    }
  }

  @Test
  func `A list of pure functions keeps nothing but its items, and marks where the program filters`()
    async throws
  {
    let store = EventStore.inMemory()
    let rows = store.collection("row", of: ImpureRow.self)
    for number in 0..<40 { try await rows.put(ImpureRow(id: number % 10, number: number, text: "a")) }
    let plain = try await FetchController(
      ListRequest(ImpureRow.self).sectioned(by: \.section).sorted(by: \.number), from: rows
    ).performFetch().version.view
    #expect(plain.keys == nil && plain.marks.isEmpty && plain.drifts.isEmpty)
    let filtered = try await FetchController(
      ListRequest(ImpureRow.self).sorted(by: \.number).filtered { $0.number % 2 == 0 }, from: rows
    ).performFetch().version.view
    #expect(filtered.keys == nil && filtered.marks.count == filtered.count && filtered.drifts.isEmpty)
  }
}
