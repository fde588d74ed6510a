// Aggregates after random changes: those of the rows, live and at any past point, and exact by another program.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct AggregatePropertyTests {
  /// A store, and what each of its rows is known to be.
  private struct Run {
    struct Row: Equatable {
      var section: DocumentValue?
      var value: Int
      var flag: Bool
    }

    /// The rows by section, with the results of each and of all.
    struct Expected {
      var sections: [DocumentValue: ModelAggregates] = [:]
      var all: ModelAggregates
      /// The numbers of each section, to be summed by another program.
      var numbers: [DocumentValue: [ModelValue]] = [:]
    }

    static let sections: [DocumentValue?] = [nil, .null, .string("x"), .string("y"), .int(1), .double(1)]

    let store: EventStore
    let isSectioned: Bool
    let isFiltered: Bool
    private var random: SeededGenerator
    private var rows: [[UInt8]: Row] = [:]
    private let ids = ["a", "ab", "é", "e\u{301}"] + (0..<16).map { "row \($0)" }

    init(_ random: inout SeededGenerator) {
      self.random = random.split()
      isSectioned = Int.random(in: 0..<4, using: &random) > 0
      isFiltered = Int.random(in: 0..<3, using: &random) == 0
      let keepsHistory = Int.random(in: 0..<3, using: &random) == 0
      store = EventStore.inMemory(
        clock: .fixed, options: keepsHistory ? .history(&random) : StoreOptions())
    }

    /// The list, in sections or, with none, in the one section null.
    mutating func request(isKept: Bool) throws -> ListRequest<DocumentRow, DocumentValue> {
      var request = ListRequest(DocumentRow.self)
        .sectioned(byField: FieldPath(names: ["s"])).sorted(byField: .id)
      if !isSectioned {
        request.section = nil
        request.decodeSection = { _ in .null }
      }
      if isFiltered { request = request.filtered(by: "flag == true") }
      switch Int.random(in: 0..<4, using: &random) {
      case 0: request = request.limited(to: Int.random(in: 0..<6, using: &random))
      case 1: request = request.windowed(perSection: .last(2, before: 1))
      default: break
      }
      if isKept { request = request.kept(as: "kept") }
      return request.aggregated(try ModelAggregates.request)
    }

    mutating func append() throws -> UInt64 {
      let count = Int.random(in: 0..<8, using: &random) == 0 ? 40 : Int.random(in: 1...4, using: &random)
      let events = (0..<count).map { _ in event() }
      return try store.appendBlocking(events).sequences.upperBound
    }

    private mutating func event() -> NewEvent {
      let id = ids.randomElement(using: &random)!
      if Int.random(in: 0..<4, using: &random) == 0 {
        rows[Array(id.utf8)] = nil
        return NewEvent(DocumentEvent.delete, in: "t/\(id)", .null)
      }
      var row = rows[Array(id.utf8)] ?? Row(section: nil, value: 0, flag: true)
      if Bool.random(using: &random) { row.section = Self.sections.randomElement(using: &random)! }
      if Bool.random(using: &random) { row.value = ModelValue.all.indices.randomElement(using: &random)! }
      if Int.random(in: 0..<3, using: &random) == 0 { row.flag.toggle() }
      rows[Array(id.utf8)] = row
      var document: DocumentObject = ["flag": .bool(row.flag)]
      document["s"] = row.section
      document["n"] = ModelValue.all[row.value].value
      return NewEvent(DocumentEvent.put, in: "t/\(id)", .object(document))
    }

    /// What the aggregates must be now.
    var expected: Expected {
      var grouped: [DocumentValue: [(id: String, value: ModelValue)]] = [:]
      for (id, row) in rows where !isFiltered || row.flag {
        let value = ModelValue.all[row.value]
        var section = isSectioned ? row.section ?? .null : .null
        if section == .double(1) { section = .int(1) }
        grouped[section, default: []].append((String(decoding: id, as: UTF8.self), value))
      }
      var expected = Expected(all: ModelAggregates(grouped.values.flatMap { $0 }))
      for (section, rows) in grouped {
        expected.sections[section] = ModelAggregates(rows)
        expected.numbers[section] = rows.map(\.value)
      }
      return expected
    }
  }

  /// A list, and what its aggregates must be.
  private struct Seen {
    var snapshot: ListSnapshot<DocumentRow, DocumentValue>
    var expected: Run.Expected

    /// Of no rows for a section that has none, as the one section of a list without sections may.
    func results(_ section: DocumentValue) -> ModelAggregates {
      expected.sections[section] ?? ModelAggregates([])
    }
  }

  #if DEBUG
    private static let runCount = 40
  #else
    private static let runCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 400
  #endif

  @Test
  func `R67 Aggregates are those of the rows after any changes, live and at any past point`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (states: 0, past: 0, updates: 0, alone: 0)
    var sums = SumOracle()
    for number in 0..<Self.runCount {
      var run = Run(&random)
      let request = try run.request(isKept: number.isMultiple(of: 2))
      let list = FetchController(request, from: run.store.documents("t"))
      var states: [(sequence: UInt64, expected: Run.Expected)] = []
      var last: Seen?
      for _ in 0..<Int.random(in: 2...12, using: &random) {
        let sequence = try run.append()
        if Int.random(in: 0..<6, using: &random) == 0 { _ = try run.store.recordHistoriesBlocking() }
        let snapshot = try await list.performFetch()
        let now = Seen(snapshot: snapshot, expected: run.expected)
        try Self.check(now, "run \(number) at \(sequence)")
        met.states += 1
        states.append((sequence, now.expected))
        for (section, values) in now.expected.numbers { sums.add(values, now.expected.sections[section]!) }
        defer { last = now }
        guard let last else { continue }
        for (old, new) in [(last, now), (now, last)] {
          let changes = ListChanges(from: old.snapshot, to: new.snapshot)
          try Self.check(changes, old, new, "run \(number) at \(sequence)")
          met.updates += changes.sectionUpdates.count
          met.alone +=
            changes.changedItems.isEmpty && !changes.isStructural ? changes.sectionUpdates.count : 0
        }
        // A snapshot stays what it was.
        try Self.check(last, "run \(number) before \(sequence)")
      }
      for _ in 0..<3 {
        let (sequence, expected) = states.randomElement(using: &random)!
        let past = try await list.snapshot(at: .sequence(sequence))
        try Self.check(Seen(snapshot: past, expected: expected), "run \(number) in the past, at \(sequence)")
        met.past += 1
      }
      // Without what is known of other states.
      let other = FetchController(request, from: run.store.documents("t"))
      try Self.check(
        Seen(snapshot: try await other.performFetch(), expected: run.expected), "run \(number) from all rows")
      try run.store.closeBlocking()
    }
    print("aggregates: \(met), sums: \(sums.count)")
    #expect(met.updates > met.states / 2 && met.past == 3 * Self.runCount && met.alone > Self.runCount / 20)
    try sums.check()
  }

  private static func check(_ seen: Seen, _ place: String) throws {
    let (snapshot, expected) = (seen.snapshot, seen.expected)
    let all = try ModelAggregates(snapshot.aggregates)
    try #require(all == expected.all, "\(place), of the whole list")
    for (index, section) in snapshot.sectionIdentifiers.enumerated() {
      let found = try ModelAggregates(snapshot.aggregates(inSectionAt: index))
      try #require(found == seen.results(section), "\(place), of \(section)")
    }
    // Those that no window shows too.
    for section in expected.sections.keys {
      let found = try ModelAggregates(snapshot.aggregates(inSection: section))
      try #require(found == seen.results(section), "\(place), of \(section)")
    }
  }

  /// The sections that both lists show and whose aggregates differ, and no others, are updated.
  private static func check(
    _ changes: ListChanges<String, DocumentValue>, _ old: Seen, _ new: Seen, _ place: String
  ) throws {
    let before = Set(old.snapshot.sectionIdentifiers)
    let wanted = new.snapshot.sectionIdentifiers.filter { section in
      before.contains(section) && old.results(section) != new.results(section)
    }
    try #require(changes.sectionUpdates.map(\.section) == wanted, "\(place): \(changes)")
  }
}

/// Sums and averages that Python's fractions check.
private struct SumOracle {
  private var lines: [String] = []
  var count: Int { lines.count }

  mutating func add(_ values: [ModelValue], _ results: ModelAggregates) {
    var words: [String] = []
    for value in values {
      switch value.number {
      case .integer(let text): words.append("i\(text)")
      case .fraction(let text): words.append("f\(text)")
      case .none, .notFinite, .otherKind: break
      }
    }
    let sum = results.results["sum:n"]!.value, average = results.results["avg:n"]!.value
    lines.append("\(sum.json()) \(average.json()) \(words.joined(separator: " "))")
  }

  private static let script = """
    import sys
    from fractions import Fraction
    def rounded(fraction):
        try:
            return float(fraction)
        except OverflowError:
            return None
    def same(text, value):
        if text == "null" or value is None:
            return text == "null" and value is None
        if isinstance(value, int):
            return text == str(value)
        return float(text) == value and not text.lstrip("-").isdigit()
    for line in sys.stdin:
        total, average, *words = line.split()
        exact = sum((Fraction(word[1:]) for word in words), Fraction())
        integers = all(word[0] == "i" for word in words)
        good = same(total, int(exact) if integers else rounded(exact))
        good = good and same(average, rounded(exact / len(words)) if words else None)
        print("yes" if good else "no: " + line.strip())
    """

  func check() throws {
    let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let python else { return print("python3 is not installed: sums are compared with nothing") }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-sums-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (input, output) = (folder.appendingPathComponent("in"), folder.appendingPathComponent("out"))
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: input)
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["-c", Self.script]
    process.standardInput = try FileHandle(forReadingFrom: input)
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let answers = String(decoding: try Data(contentsOf: output), as: UTF8.self).split(separator: "\n")
    #expect(answers.count == lines.count)
    if let wrong = answers.first(where: { $0 != "yes" }) { Issue.record("\(wrong)") }
  }
}
