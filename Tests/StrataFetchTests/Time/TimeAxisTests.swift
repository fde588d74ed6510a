// A time axis: every step is what a replay to its end gives, in one pass.

import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct TimeAxisTests {
  private static let zones = [
    "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata", "UTC",
  ]

  private static let values: [DocumentValue?] = [
    nil, .null, .int(1), .double(1), .string("x"), .string("é"), .bool(true), .array([]), .object(["in": 1]),
  ]

  private static let numbers: [DocumentValue?] = [
    nil, .null, .int(3), .int(-7), .int(.max), .uint(.max), .double(0.1), .double(0.2), .double(-2.5),
    .double(1e300),
    .double(5e-324), .double(.nan), .double(.infinity), .string("12345678901234567.89"), .string("7"),
    .bool(true),
    .bigInt(DocumentInteger("-123456789012345678901234567890")!),
  ]

  /// A store with puts, merges, deletions and events that cannot be applied, of which some are dated earlier.
  private static func store(appends: Int, _ random: inout SeededGenerator) throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    // A week before Berlin's clocks went forward in 2012.
    var time: Int64 = 1_332_000_000
    for _ in 0..<appends {
      time += Int64.random(in: 0..<40_000, using: &random)
      let isLate = Int.random(in: 0..<5, using: &random) == 0
      let own = time - (isLate ? Int64.random(in: 0..<400_000, using: &random) : 0)
      let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in event(&random) }
      _ = try store.appendBlocking(events, time: Timestamp(nanoseconds: own * 1_000_000_000))
    }
    return store
  }

  private static func event(_ random: inout SeededGenerator) -> NewEvent {
    let id =
      "\(["t", "t", "t", "u"].randomElement(using: &random)!)/\(Int.random(in: 0..<12, using: &random))"
    var fields: DocumentObject = ["note": .int(Int64.random(in: 0..<3, using: &random))]
    if Bool.random(using: &random) { fields["s"] = values.randomElement(using: &random)! }
    if Bool.random(using: &random) { fields["n"] = numbers.randomElement(using: &random)! }
    if Bool.random(using: &random) {
      fields["in"] = .object(["s": values.randomElement(using: &random)! ?? .null, "x": 1])
    }
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: return NewEvent(DocumentEvent.delete, in: StreamName(id), .null)
    case 2: return NewEvent(DocumentEvent.put, in: StreamName(id), .int(1))
    case 3: return NewEvent(DocumentEvent.put, in: StreamName(id), payload: .opaque([0xFF]))
    case 4...7: return NewEvent(DocumentEvent.merge, in: StreamName(id), .object(fields))
    default: return NewEvent(DocumentEvent.put, in: StreamName(id), .object(fields))
    }
  }

  /// What a replay to a sequence gives: for the values of some fields, how many rows there are, and their exact sum.
  private static func replayed(
    _ store: EventStore, at sequence: UInt64, _ request: AxisRequest
  ) throws -> (groups: [[DocumentValue]: TimeAxis.Group], leftOutCount: Int) {
    let set = try store.statesBlocking(at: [.sequence(sequence)], .documents(only: ["t"]))[0]
    guard set.contains("t") else { return ([:], 0) }
    var rows: [[DocumentValue]: [DocumentValue]] = [:]
    var leftOutCount = set["t"].problems.count
    let filter = request.filter?.compiled()
    set["t"].forEachRow { row in
      guard filter?.matches(row, section: { .null }) ?? true else { return }
      let fields = (try? DocumentRow(row).fields) ?? [:]
      func value(_ path: FieldPath) -> DocumentValue {
        path.names.dropFirst().reduce(fields[path.names[0]] ?? .null) { $0[$1] ?? .null }
      }
      var key: [DocumentValue] = []
      for path in request.by {
        switch value(path) {
        case .array, .object: leftOutCount += 1; return
        case .double(1): key.append(.int(1))
        case let value: key.append(value)
        }
      }
      rows[key, default: []].append(request.sum.map(value) ?? .null)
    }
    return (
      rows.mapValues { values in
        var sum = ExactSum()
        for value in values { sum.add(Summand(value)) }
        return TimeAxis.Group(
          values: [], count: values.count, sum: request.sum == nil ? nil : sum.value,
          notFiniteCount: sum.notFiniteCount, notNumberCount: sum.notNumberCount)
      }, leftOutCount
    )
  }

  @Test func `Each step of a time axis is what a replay to its end gives, whatever the appends are dated`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let requests = [
      AxisRequest(by: [try FieldPath("s")], sum: try FieldPath("n")),
      AxisRequest(
        by: [try FieldPath("in.s"), try FieldPath("s")], sum: try FieldPath("n"),
        filter: try RowFilter("note < 2")),
      AxisRequest(
        by: [], sum: try FieldPath("n"), filter: try RowFilter("$time > @'2012-03-24' && $id != '3'")),
      AxisRequest(by: [try FieldPath("s")], filter: try RowFilter("$revision > 10 || s == 1")),
    ]
    for round in 0..<24 {
      let store = try Self.store(appends: Int.random(in: 1...40, using: &random), &random)
      let request = requests[round % requests.count]
      let zone = try #require(TimeZone(identifier: Self.zones.randomElement(using: &random)!))
      let step = CalendarStep.allCases.randomElement(using: &random)!
      let head = store.log.mark.sequence
      let last = Bool.random(using: &random) ? head : UInt64.random(in: 1...head, using: &random)
      let first = Bool.random(using: &random) ? 0 : UInt64.random(in: 0...last, using: &random)
      let axis = try await store.documents("t").timeAxis(
        request, every: step, in: zone, from: .sequence(first), to: .sequence(last))
      var ends: [(UInt64, Int64)] = []
      for sequence in first..<last {
        let append = try #require(try store.log.append(holding: sequence + 1))
        ends.append((append.last, append.ownTime))
      }
      var count = 0
      for item in axis {
        count += 1
        // The last append of the range that is dated before the end of the step; of those before the range, all count.
        let reached = ends.last { $0.1 < item.end.nanoseconds }?.0 ?? first
        #expect(item.sequence == min(max(reached, first), last))
        let wanted = try Self.replayed(store, at: item.sequence, request)
        try #require(item.groups.count == wanted.groups.count, "\(request) at \(item.sequence)")
        for group in item.groups {
          let other = try #require(wanted.groups[group.values])
          try #require(group.count == other.count && group.sum == other.sum, "\(group) and \(other)")
          try #require(
            group.notFiniteCount == other.notFiniteCount && group.notNumberCount == other.notNumberCount)
        }
        try #require(item.leftOutCount == wanted.leftOutCount)
      }
      #expect(count == axis.stepCount)
      let steps = try TimeAxisSteps(
        store.log, CalendarSteps(step) { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) },
        after: first, through: last, now: store.log.options.clock.now())
      try Self.expectStates(store, steps, request, are: axis)
    }
  }

  /// Expects the same axis of the states at the ends of the steps: of their rows, and of the sections of their list.
  private static func expectStates(
    _ store: EventStore, _ steps: TimeAxisSteps, _ request: AxisRequest, are axis: TimeAxis
  ) throws {
    let states = TimeAxisStates(steps, ends: try steps.ends(in: store.log))
    let ofRows = try states.axis(request) { (sequence) throws in
      try store.statesBlocking(at: [.sequence(sequence)], .documents(only: ["t"]))[0]["t"]
    }
    try #require("\(Array(ofRows))" == "\(Array(axis))")
    guard request.by.count == 1, request.sum == nil else { return }
    var list = ListRequest(DocumentRow.self).sectioned(byField: request.by[0])
    if let filter = request.filter { list = list.filtered(by: filter) }
    let compiled = try list.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    let ofSections = try states.axis { (sequence) throws in
      var set = try store.statesBlocking(at: [.sequence(sequence)], .documents(only: ["t"]))[0]
      set.withTable("t") { $0.addView(compiled.definition) }
      return ListVersion(set, table: "t", compiled)
    }
    try #require("\(Array(ofSections))" == "\(Array(axis))")
  }

  @Test(arguments: zones, [CalendarStep.hour, .day, .week, .month])
  func `Steps begin where the calendar of Foundation begins them`(zone: String, step: CalendarStep) throws {
    let zone = try #require(TimeZone(identifier: zone))
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = zone
    let units: [CalendarStep: Calendar.Component] = [
      .hour: .hour, .day: .day, .week: .weekOfYear, .month: .month,
    ]
    let steps = CalendarSteps(step) { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<400 {
      let moment = Int64.random(in: -100_000_000...1_700_000_000, using: &random)
      let interval = try #require(
        calendar.dateInterval(of: units[step]!, for: Date(timeIntervalSince1970: Double(moment))))
      // Where clocks move by half an hour, Foundation's hours are none of the clock.
      if step == .hour, zone.identifier == "Australia/Lord_Howe" { continue }
      let begin = steps.begin(holding: moment)
      #expect(begin == Int64(interval.start.timeIntervalSince1970), "\(moment)")
      #expect(steps.end(of: begin) == Int64(interval.end.timeIntervalSince1970), "\(moment)")
    }
  }

  @Test func `Days have 23 and 25 hours where clocks are changed, and a day that clocks skip has no step`()
    throws
  {
    func days(_ name: String, _ first: String, _ last: String) throws -> [Int64] {
      let zone = try #require(TimeZone(identifier: name))
      let steps = CalendarSteps(.day) { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
      let (first, last) = (try #require(Timestamp(first)), try #require(Timestamp(last)))
      let begins = try #require(
        steps.begins(
          from: first.nanoseconds / 1_000_000_000, through: last.nanoseconds / 1_000_000_000, countMax: 10))
      return zip(begins, begins.dropFirst()).map { ($1 - $0) / 3600 }
    }
    #expect(try days("Europe/Berlin", "2012-03-24T12:00:00Z", "2012-03-26T12:00:00Z") == [24, 23, 24])
    #expect(try days("Europe/Berlin", "2012-10-27T12:00:00Z", "2012-10-29T12:00:00Z") == [24, 25, 24])
    #expect(try days("Pacific/Apia", "2011-12-29T12:00:00Z", "2012-01-01T00:00:00Z") == [24, 24, 24])
  }

  @Test func `A sum is what the numbers give by digits, and nothing once all were taken away`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var tenths = ExactSum()
    for _ in 0..<10 { tenths.add(Summand(.double(0.1))) }
    #expect(tenths.value == .double(1))
    var large = ExactSum()
    for value in [1e300, 1, -1e300] { large.add(Summand(.double(value))) }
    #expect(large.value == .double(1))
    for _ in 0..<200 {
      var sum = ExactSum()
      let values = (0..<Int.random(in: 0..<30, using: &random)).map { _ in
        Self.numbers.randomElement(using: &random)! ?? .null
      }
      var (exact, isWhole, counted) = (Decimal(), true, [DocumentValue]())
      for value in values {
        guard let decimal = Self.decimal(value) else { continue }
        exact += decimal
        if case .double = value { isWhole = false }
        counted.append(value)
      }
      // What is added and taken away again leaves nothing, in any order.
      for value in values.shuffled(using: &random) { sum.add(Summand(value)) }
      for value in counted.shuffled(using: &random) { sum.remove(Summand(value)) }
      for value in counted.shuffled(using: &random) { sum.add(Summand(value)) }
      for value in values where Self.decimal(value) == nil { sum.remove(Summand(value)) }
      #expect(sum.notFiniteCount == 0 && sum.notNumberCount == 0)
      if isWhole {
        #expect(sum.value?.json() == "\(exact)")
      } else {
        #expect(sum.value == .double(Double("\(exact)")!))
      }
    }
  }

  /// The numbers of the test whose sums Foundation's decimals hold exactly.
  private static func decimal(_ value: DocumentValue) -> Decimal? {
    switch value {
    case .int(let number): Decimal(number)
    case .uint(let number): Decimal(number)
    case .bigInt(let number): Decimal(string: number.description)
    case .double(let number) where [0.1, 0.2, -2.5].contains(number): Decimal(string: "\(number)")
    default: nil
    }
  }

  @Test func `A step that is not over says so, and one without events is there`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let day: Int64 = 86_400 * 1_000_000_000
    for (time, status) in [(0, "open"), (3, "closed")] {
      _ = try store.appendBlocking(
        [NewEvent(DocumentEvent.put, in: "t/1", ["s": .string(status)])],
        time: Timestamp(nanoseconds: Int64(time) * day + 1))
    }
    let utc = try #require(TimeZone(identifier: "UTC"))
    let table = store.documents("t")
    let axis = Array(try await table.timeAxis(by: FieldPath("s"), every: .day, in: utc))
    #expect(axis.map { $0.groups.map(\.values) } == [[["open"]], [["open"]], [["open"]], [["closed"]]])
    #expect(axis.allSatisfy(\.isOver) && axis.map(\.sequence) == [1, 1, 1, 2])
    // The day of the second append goes on after the end of the range.
    _ = try store.appendBlocking(
      [NewEvent(DocumentEvent.delete, in: "t/1", .null)], time: Timestamp(nanoseconds: 3 * day + 5))
    let short = Array(try await table.timeAxis(by: FieldPath("s"), every: .day, in: utc, to: .sequence(2)))
    #expect(short.map(\.isOver) == [true, true, true, false])
    // A time is the end of the axis, and no part of it.
    let until = Array(
      try await table.timeAxis(
        every: .day, in: utc, from: .time(Timestamp(nanoseconds: -day)),
        to: .time(Timestamp(nanoseconds: 2 * day))))
    #expect(until.map { $0.groups.map(\.count) } == [[], [1], [1]])
    await #expect(throws: ListError.store(TimeAxisSteps.tooMany)) {
      try await table.timeAxis(every: .hour, in: utc, from: .time(Timestamp(nanoseconds: .min + 1)))
    }
  }
}
