// Histories of filtered lists whose rows' type decodes a row at one time and not at another.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

/// Whether rows decode now.
private enum Sight {
  private static let state = Lock((isDim: false, readCount: 0, interval: 0))

  /// - Parameter interval: the number of reads after which it changes by itself; 0 for never.
  static func start(changingEvery interval: Int) { state.withLock { $0 = (false, 0, interval) } }
  static func change() { state.withLock { $0.isDim.toggle() } }

  static var isDim: Bool {
    state.withLock { state in
      state.readCount += 1
      if state.interval > 0, state.readCount % state.interval == 0 { state.isDim.toggle() }
      return state.isDim
    }
  }
}

private struct Reading: Codable, Identifiable, Sendable {
  var id: String
  var number: Int
  var group: Int
}

/// The same, for a program that cannot always read it.
private struct DimReading: Codable, Identifiable, Sendable {
  private struct Unseen: Error {}

  var id: String
  var number: Int
  var group: Int

  init(from decoder: any Decoder) throws {
    let reading = try Reading(from: decoder)
    (id, number, group) = (reading.id, reading.number, reading.group)
    if Sight.isDim { throw Unseen() }
  }
}

@Suite struct ContradictedListTests {
  /// The list in a state of which nothing was read; nil if the runs lack its keys.
  private static func unread(
    _ sequence: UInt64, _ store: EventStore, _ rows: RowTable<DimReading>, _ definition: ViewDefinition
  ) -> View? {
    let past = RunPast(store, rows.folding, view: (rows.name, definition))
    past.look(through: sequence)
    guard past.covers(sequence), case .done(var state, _) = past.tablesUnread(at: sequence) else {
      return nil
    }
    state.withTable(rows.name) { $0.addView(definition) }
    return state[rows.name].view(definition.identity)
  }

  /// What is wrong with a list that has to place each of a number of rows, or to say why it does not.
  private static func problem(_ view: View, _ rowCount: Int) -> String? {
    // Counts read no page.
    let problemCount = view.problems.count
    guard view.count + problemCount == rowCount else {
      return "\(view.count) items and \(problemCount) problems of \(rowCount) rows"
    }
    if let sentence = view.checkInvariants() { return sentence }
    var ids: Set<[UInt8]> = []
    view.forEachItem(in: 0..<view.count) { ids.insert(Array($0.id)) }
    view.problems.forEach(in: 0..<problemCount) { id, _ in ids.insert(Array(id)) }
    return ids.count == rowCount ? nil : "\(ids.count) ids of \(rowCount) rows"
  }

  @Test
  func `fault 108: a filtered list of rows that do not always decode agrees with itself at every event`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (read, unplaced, lacking) = (0, 0, 0)
    for run in 0..<60 {
      Sight.start(changingEvery: [0, 0, 5, 40].randomElement(using: &random)!)
      let store = EventStore.inMemory(clock: .fixed, options: KeptPastListTests.options(&random))
      let readings = store.collection("reading", of: Reading.self)
      let rows = store.collection("reading", of: DimReading.self).table
      let request = ListRequest(DimReading.self).sectioned(by: \.group).filtered(by: "number > 3")
      let definition = try request.kept(as: "high").compiled(decode: rows.decode).definition
      let historian = try #require(store.projector(rows.folding).historian)
      /// The numbers that the filter takes and those that it rejects, and how many it takes after each event.
      var numbers: [String: Int] = [:]
      var counts = [0]
      func check(_ sequence: UInt64) throws {
        guard let view = Self.unread(sequence, store, rows, definition) else { return }
        read += 1
        unplaced += view.problems.count
        let problem = Self.problem(view, counts[Int(sequence)])
        try #require(problem == nil, "run \(run), at \(sequence) of \(counts.count - 1)")
      }
      // The list is asked for before there are runs, or between them.
      let begin = Int.random(in: 0..<20, using: &random)
      for number in 0..<60 {
        if number == begin { historian.keep(definition, of: rows.name) }
        if Int.random(in: 0..<5, using: &random) == 0 { Sight.change() }
        let id = "\(Int.random(in: 0..<12, using: &random))"
        if numbers[id] != nil, Int.random(in: 0..<3, using: &random) == 0 {
          try await readings.delete(id)
          numbers[id] = nil
        } else {
          numbers[id] = Int.random(in: 0..<8, using: &random)
          let group = Int.random(in: 0..<3, using: &random)
          try await readings.put(Reading(id: id, number: numbers[id] ?? 0, group: group))
        }
        let count = numbers.values.count { $0 > 3 }
        while counts.count <= Int(store.head.sequence) { counts.append(count) }
        guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
        _ = try store.recordHistoriesBlocking()
        for _ in 0..<5 { try check(UInt64.random(in: 1...store.head.sequence, using: &random)) }
      }
      _ = try store.recordHistoriesBlocking()
      for sequence in 1...store.head.sequence { try check(sequence) }
      #expect(historian.state.withLock { $0.files } == .sound, "run \(run)")
      let owner = try #require(KeyOwner(rows.name, definition))
      if let set = historian.runs(), !set.runs.allSatisfy({ $0.hasKeys(of: owner) }) { lacking += 1 }
      try await store.close()
    }
    print("lists of rows that do not always decode: read \(read), unplaced \(unplaced), lacking \(lacking)")
    #expect(read > 60 && unplaced > 0 && lacking > 0, "\(read), \(unplaced), \(lacking)")
  }
}
