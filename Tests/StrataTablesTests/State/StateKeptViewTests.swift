// Views that are saved with their tables: restored, they are what they would be if they were built anew.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateKeptViewTests {
  /// The value of a field of a document, as an integer or a text; nil for anything else.
  private static func number(_ row: RowView) throws(RowProblem) -> Int64? {
    do throws(CodecError) {
      guard case .object(let fields) = try DocumentValue(cbor: row.document),
        case .int(let number) = fields["n"]
      else { return nil }
      return number
    } catch { throw RowProblem(what: "\(error)") }
  }

  /// A view of the rows by their number, sectioned by its remainder. Rows with the number 7 cannot be placed, and those
  /// with 8 are not shown.
  ///
  /// - Parameter declares: whether it has two sections also without items; nil if its order says so.
  static func definition(
    _ name: String?, _ order: SectionOrder = .key, identity: String = "", fingerprint: UInt64 = 1,
    modulus: Int64 = 4, calls: ProgramCalls = .filters, declares: Bool? = nil
  ) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity("\(name ?? "") \(identity) \(modulus) \(fingerprint)"), sectionOrder: order,
      declared: declares ?? order.isDeclared ? [key(Int64(2)), key(Int64(9))] : [], calls: calls,
      kept: name.map { KeptView(name: $0, identity: "\(identity) \(modulus)", fingerprint: fingerprint) }
    ) { (row, writer) throws(RowProblem) in
      let number = try number(row)
      guard number != 8 else { return nil }
      guard number != 7 else { throw RowProblem(what: "seven") }
      writer.append(number.map { $0 % modulus })
      let section = writer.count
      writer.append(number)
      let end = writer.count
      if case .extreme(let aggregate) = order {
        writer.append(number, aggregate.isMaximum ? [] : .nilsLast)
      }
      return PlacedLengths(section: section, value: writer.count - end)
    }
  }

  private static func place(_ key: UnsafeRawBufferPointer) -> Int {
    var reader = SortKeyReader(key)
    return ((try? reader.read(Int64?.self)) ?? nil).map { Int($0) } ?? 99
  }

  static let orders: [(String, SectionOrder)] = [
    ("key", .key), ("keyDescending", .keyDescending), ("list", .list([key(Int64(3)), key(Int64(1))])),
    ("first", .first), ("count", .count),
    ("ranked", .ranked { section, writer in writer.append(place(section) % 3) }),
    ("compared", .compared { a, b in (place(a) * 7) % 5 > (place(b) * 7) % 5 }),
    ("greatest", .extreme(SectionAggregate(isMaximum: true, isDescending: true))),
    ("least", .extreme(SectionAggregate(isMaximum: false, isDescending: false))),
  ]

  /// All that a view shows, line by line as bytes: sections with their counts, items with their values, and problems.
  static func content(_ view: View) -> [[UInt8]] {
    var content: [[UInt8]] = []
    func add(_ key: UnsafeRawBufferPointer, _ value: some Collection<UInt8>) {
      var line: [UInt8] = []
      line.reserveCapacity(8 + key.count + value.count)
      withUnsafeBytes(of: key.count) { line.append(contentsOf: $0) }
      line.append(contentsOf: key)
      line.append(contentsOf: value)
      content.append(line)
    }
    for place in 0..<view.sectionCount {
      view.withSection(at: place) { section, count in withUnsafeBytes(of: count) { add(section, $0) } }
    }
    view.items.forEach(in: 0..<view.items.count) { key, value in add(key, value) }
    // What follows are problems.
    content.append([])
    view.problems.forEach(in: 0..<view.problems.count) { id, what in add(id, what) }
    return content
  }

  private func change(_ store: EventStore, _ random: inout SeededGenerator, _ count: Int) throws {
    for _ in 0..<count {
      let id = "\(Int.random(in: 0..<20, using: &random))"
      if Int.random(in: 0..<6, using: &random) == 0 {
        try store.appendAny([
          NewEvent(DocumentEvent.delete, in: StreamName(category: "a", id: id), payload: EventPayload(.null))
        ])
      } else {
        let text = String(repeating: "x", count: Int.random(in: 0..<900, using: &random))
        try store.put(id, ["n": .int(Int64.random(in: 0..<12, using: &random)), "t": .string(text)])
      }
    }
  }

  /// Asks for a view, and compares it with one that is built of the same rows.
  private func check(_ store: EventStore, _ definition: ViewDefinition, _ what: String) async throws {
    let projector = store.projector(StateStore.documents)
    let lease = projector.lease(definition, of: "a")
    let table = try await projector.state(reaching: store.head.sequence, with: lease)["a"]
    let view = try #require(table.view(definition.identity))
    let anew = View(definition, of: table, on: .none)
    #expect(Self.content(view) == Self.content(anew), "\(what)")
    #expect(view.checkSections() == nil, "\(what)")
    withExtendedLifetime(lease) {}
  }

  /// Whether a view came from disk: the table had it before it was asked for. Nil for a table of which nothing is left but
  /// deletions, as after an erasure: it is not saved.
  private func hasSaved(_ store: EventStore, _ name: String) async throws -> Bool? {
    let projector = store.projector(StateStore.documents)
    let set = try await projector.state(reaching: store.head.sequence)
    return set["a"].isWritten ? set["a"].savedViews.contains { $0.kept.name == name } : nil
  }

  @Test(arguments: orders)
  func
    `fault 68: a restored view is what a new one would be, after changes by processes that did not ask for it`(
      name: String, order: SectionOrder
    ) async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(name))
    var (restored, known) = (0, 0)
    let runs = StateRuns(200, parts: Self.orders.count)
    while runs.next() {
      let round = runs.count
      let disk = SimulatedDisk()
      let definition = Self.definition(name, order)
      var store = try StateStore.open(disk)
      try change(store, &random, Int.random(in: 1...60, using: &random))
      try await check(store, definition, "new")
      try change(store, &random, Int.random(in: 0...10, using: &random))
      try store.closeBlocking()
      // A view goes with a table of which nothing is left, and comes back once somebody asks for it.
      var isLost = false
      for process in 0..<4 {
        store = try StateStore.open(disk)
        let isKnown = try await hasSaved(store, name)
        if isKnown == nil { isLost = true }
        if isKnown == true { known += 1 }
        #expect(isKnown != false || isLost, "\(name), round \(round), process \(process)")
        try change(store, &random, Int.random(in: 0...10, using: &random))
        if Bool.random(using: &random) { try store.checkpointBlocking() }
        if Bool.random(using: &random) {
          try await check(store, definition, "\(name), round \(round), process \(process)")
          (restored, isLost) = (restored + 1, false)
          try change(store, &random, Int.random(in: 0...6, using: &random))
          try await check(store, definition, "\(name), round \(round), process \(process), later")
        }
        if Int.random(in: 0..<5, using: &random) == 0 {
          try store.eraseBlocking(Erasure(sequences: [1...2], because: "asked to"))
          try await check(store, definition, "\(name), round \(round), erased")
          isLost = false
        }
        try store.closeBlocking()
      }
    }
    #expect(restored > runs.count && known > 3 * runs.count, "\(restored), \(known)")
  }

  @Test func `a view is restored by reading it, without placing a row`() async throws {
    let disk = SimulatedDisk()
    let calls = Lock(0)
    let definition = ViewDefinition(
      identity: ViewIdentity("counting"), sectionOrder: .key,
      kept: KeptView(name: "counting", identity: "", fingerprint: 1)
    ) { row, writer in
      calls.withLock { $0 += 1 }
      writer.append(1)
      return PlacedLengths(section: 0)
    }
    var store = try StateStore.open(disk)
    for number in 0..<50 { try store.put("\(number)", ["n": 1]) }
    try await check(store, definition, "new")
    try store.closeBlocking()
    store = try StateStore.open(disk)
    let projector = store.projector(StateStore.documents)
    let lease = projector.lease(definition, of: "a")
    calls.withLock { $0 = 0 }
    var table = try await projector.state(reaching: store.head.sequence, with: lease)["a"]
    #expect(calls.withLock { $0 } == 0 && table.view(definition.identity)?.items.count == 50)
    // Each change costs the place of the row before it and after it, and no more.
    try store.put("7", ["n": 2])
    try store.closeBlocking()
    store = try StateStore.open(disk)
    calls.withLock { $0 = 0 }
    let again = store.projector(StateStore.documents)
    let next = again.lease(definition, of: "a")
    table = try await again.state(reaching: store.head.sequence, with: next)["a"]
    #expect(calls.withLock { $0 } <= 2 && table.view(definition.identity)?.items.count == 50)
    withExtendedLifetime((lease, next)) {}
    try store.closeBlocking()
  }

  @Test func `a view of another definition, identity or fingerprint under the same name is built anew`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk)
    try change(store, &random, 80)
    try await check(store, Self.definition("v"), "new")
    try store.closeBlocking()
    let others = [
      Self.definition("v", modulus: 3), Self.definition("v", identity: "other"),
      Self.definition("v", fingerprint: 2), Self.definition("v", .count, identity: "by count"),
      Self.definition("w"), Self.definition(nil), Self.definition("v"),
    ]
    for other in others {
      store = try StateStore.open(disk)
      try await check(store, other, "another")
      try change(store, &random, 5)
      try await check(store, other, "another, later")
      try await check(store, Self.definition("v"), "the first one beside it")
      try store.closeBlocking()
      let reader = try StateStore.open(disk, .readOnly)
      #expect(try await hasSaved(reader, "v") == true)
      for definition in others { try await check(reader, definition, "a reader") }
      try reader.closeBlocking()
    }
  }

  @Test func `of views with one name the last leased is saved, and others live as long as their leases`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk)
    try change(store, &random, 80)
    let projector = store.projector(StateStore.documents)
    let definitions = [2, 3, 5].map { Self.definition("v", modulus: $0) }
    var leases: [ViewLease?] = []
    for definition in definitions {
      leases.append(projector.lease(definition, of: "a"))
      _ = try await projector.state(reaching: store.head.sequence, with: leases.last!!)
    }
    /// The remainders of the views after a change, in their order. All show what a new view would show.
    func views() async throws -> [String] {
      try change(store, &random, 9)
      let table = try await projector.state(reaching: store.head.sequence)["a"]
      for view in table.views {
        #expect(Self.content(view) == Self.content(View(view.definition, of: table, on: .none)))
      }
      return table.views.compactMap { $0.definition.kept?.identity }
    }
    let names = definitions.compactMap { $0.kept?.identity }
    var seen = try await views()
    #expect(seen == names)
    // The one leased last stays without a lease, until another one is leased.
    leases[2] = nil
    seen = try await views()
    #expect(seen == names)
    let again = projector.lease(definitions[0], of: "a")
    seen = try await views()
    #expect(seen == [names[1], names[0]])
    leases[1] = nil
    seen = try await views()
    #expect(seen == [names[0]])
    leases = []
    withExtendedLifetime(again) {}
    try store.closeBlocking()
    store = try StateStore.open(disk)
    let saved = try await store.projector(StateStore.documents).state(reaching: store.head.sequence)["a"]
    #expect(saved.savedViews.map(\.kept) == [definitions[0].kept])
    try store.closeBlocking()
  }

  @Test func `the view that is saved under a name is the last leased one, while all are leased`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    let definitions = [2, 3].map { Self.definition("v", modulus: $0) }
    var store = try StateStore.open(disk)
    try change(store, &random, 80)
    for _ in 0..<4 {
      let projector = store.projector(StateStore.documents)
      var leases: [ViewLease] = []
      for round in 0..<12 {
        let definition = definitions[round < 2 ? round : Int.random(in: 0..<2, using: &random)]
        leases.append(projector.lease(definition, of: "a"))
        _ = try await projector.state(reaching: store.head.sequence, with: leases[round])
        if Bool.random(using: &random) { try change(store, &random, 20) }
        try store.checkpointBlocking()
        #expect(try StateVerifier(store.log).run() == [], "round \(round)")
        let saved = Fold.resuming(store.log, StateStore.documents).state.savedViews
        #expect(saved.map(\.kept) == [definition.kept], "round \(round)")
      }
      leases = []
      try store.closeBlocking()
      store = try StateStore.open(disk)
      for definition in definitions { try await check(store, definition, "opened again") }
    }
    try store.closeBlocking()
  }

  @Test func `a view whose files are damaged or gone is built anew, and so are its rows`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk)
    try change(store, &random, 60)
    for (name, order) in Self.orders.prefix(3) { try await check(store, Self.definition(name, order), "new") }
    try store.closeBlocking()
    // The rows go on without the views.
    store = try StateStore.open(disk)
    _ = try await hasSaved(store, "key")
    try change(store, &random, 30)
    try store.closeBlocking()
    for path in disk.pageFiles() {
      let bytes = try #require(disk.contents(path))
      for index in stride(from: 0, to: bytes.count, by: 61) {
        let copy = disk.clone()
        if index % 3 == 0 {
          copy.replace(path, Array(bytes[..<index]))
        } else {
          copy.flipBit(path, 8 * index)
        }
        let reader = try StateStore.open(copy, .readOnly)
        for (name, order) in Self.orders.prefix(3) {
          try await check(reader, Self.definition(name, order), "byte \(index) of \(path)")
        }
        try reader.closeBlocking()
      }
      // Between the read of the state and that of the view.
      let copy = disk.clone()
      store = try StateStore.open(copy)
      #expect(try await hasSaved(store, "key") == true)
      for other in copy.pageFiles() { copy.replace(other, [UInt8](repeating: 0, count: bytes.count)) }
      try await check(store, Self.definition("key"), "\(path), late")
      try change(store, &random, 3)
      try store.checkpointBlocking()
      try store.closeBlocking()
      store = try StateStore.open(copy)
      for (name, order) in Self.orders.prefix(3) {
        try await check(store, Self.definition(name, order), "late")
      }
      try store.closeBlocking()
    }
  }
}

extension SectionOrder {
  fileprivate var isDeclared: Bool { if case .count = self { true } else { false } }
}
