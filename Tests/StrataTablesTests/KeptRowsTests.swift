// Folds that keep decoded rows reach the states of folds that do not, and of a model.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A row with fields of several lengths; `text` is sometimes equal to another, but of different bytes.
private struct Item: Codable, Sendable {
  var text: String
  var number: Int
  var tags: [String] = []
  var ratio: Double?
  var stubborn: Stubborn?
}

/// A value that sometimes refuses to be encoded.
private struct Stubborn: Codable, Sendable {
  var number: Int
  init(_ number: Int) { self.number = number }
  init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
  func encode(to encoder: any Encoder) throws {
    guard number % 2 == 0 else { throw Refused() }
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

/// One operation of an event.
private struct Operation: Codable, Sendable {
  enum Kind: Int, Codable, Sendable, CaseIterable {
    case set, add, tag, remove, copy, changeAndBack, removeAndBack, removeAndSet, count, ids, fail, tooLong,
      missing, stubborn
  }

  var kind: Kind
  var table: Int
  var id: Int
  var other: Int
  var value: Int
}

private enum ScriptEvent: DomainEvent {
  case run(operations: [Operation])
  case other
}

private struct Refused: Error {}

/// Tables, or their model.
private protocol ItemTables {
  subscript(table: Int, id: String) -> Item? { mutating get set }
  func count(_ table: Int) -> Int
  func ids(_ table: Int) -> [String]
}

private let rowIDs =
  (0..<6).map { "row-\($0)" } + ["é", "e\u{301}", "", "a long id that is not kept in the string itself"]
private let rowTexts = ["é", "e\u{301}", "short", "a text that is too long for the string itself", ""]

extension ItemTables {
  fileprivate mutating func run(_ operations: [Operation]) throws {
    for operation in operations { try run(operation) }
  }

  private mutating func run(_ operation: Operation) throws {
    let (table, id, value) = (operation.table, rowIDs[operation.id], operation.value)
    let item = Item(text: rowTexts[value % rowTexts.count], number: value, ratio: value % 2 == 0 ? -0.0 : nil)
    switch operation.kind {
    case .set: self[table, id] = item
    case .add:
      self[table, id]?.number += value
      self[table, id]?.text = rowTexts[value % rowTexts.count]
    case .tag: self[table, id, default: item].tags.append(rowTexts[value % rowTexts.count])
    case .remove: self[table, id] = nil
    case .copy: self[1 - table, rowIDs[operation.other]] = self[table, id]
    case .changeAndBack:
      let old = self[table, id]
      self[table, id] = item
      if self[table, id]?.number != value { throw Refused() }
      self[table, id] = old
    case .removeAndBack:
      let old = self[table, id]
      self[table, id] = nil
      if self[table, id] != nil { throw Refused() }
      self[table, id] = old
    case .removeAndSet:
      self[table, id] = nil
      self[table, id] = item
    case .count: self[table, id] = Item(text: "count", number: count(table), tags: ["\(count(1 - table))"])
    case .ids: self[table, id] = Item(text: "ids", number: 0, tags: self.ids(table))
    case .fail: if value % 2 == 0 { throw Refused() }
    case .tooLong: self[table, String(repeating: "x", count: ProjectionTables.idLengthMax + value % 2)] = nil
    case .stubborn: self[table, id] = Item(text: "", number: 0, stubborn: Stubborn(value))
    case .missing: if self[table, id] == nil { self[table, id] = item }
    }
  }

  private subscript(table: Int, id: String, default item: Item) -> Item {
    mutating get { self[table, id] ?? item }
    set { self[table, id] = newValue }
  }
}

extension ProjectionTables: ItemTables {
  private static func key(_ table: Int) -> TableKey<Item> { TableKey("table-\(table)") }

  fileprivate subscript(table: Int, id: String) -> Item? {
    mutating get { self[Self.key(table), id] }
    set { self[Self.key(table), id] = newValue }
  }
  fileprivate func count(_ table: Int) -> Int { count(of: Self.key(table)) }
  fileprivate func ids(_ table: Int) -> [String] { ids(of: Self.key(table)) }
}

private struct Scripts: Projection {
  static let name = "scripts"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .run(let operations) = try event.decode(ScriptEvent.self) else { return }
    try tables.run(operations)
  }
}

/// The bytes of an id, in their order.
private struct Key: Hashable, Comparable {
  var bytes: [UInt8]
  init(_ text: String) { bytes = Array(text.utf8) }
  static func < (a: Key, b: Key) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}

/// Dictionaries of rows, and the rule by which a row has changed.
private struct Model {
  struct Row: Equatable {
    var document: [UInt8]
    var revision: UInt64
    var created: UInt64
  }

  struct Scratch: ItemTables {
    var items: [[Key: Item]]
    var written: [Set<Key>] = [[], []]
    var removed: [Set<Key>] = [[], []]
    var isRefused = false

    subscript(table: Int, id: String) -> Item? {
      get { items[table][Key(id)] }
      set {
        if id.utf8.count > ProjectionTables.idLengthMax { return isRefused = true }
        items[table][Key(id)] = newValue
        written[table].insert(Key(id))
        if newValue == nil { removed[table].insert(Key(id)) }
      }
    }
    func count(_ table: Int) -> Int { items[table].count }
    func ids(_ table: Int) -> [String] {
      items[table].keys.sorted().map { String(decoding: $0.bytes, as: UTF8.self) }
    }
  }

  var items: [[Key: Item]] = [[:], [:]]
  var rows: [[Key: Row]] = [[:], [:]]
  var failures: [UInt64] = []
  let recordsTouches: Bool

  mutating func apply(_ operations: [Operation], _ sequence: UInt64) throws {
    var scratch = Scratch(items: items)
    do { try scratch.run(operations) } catch is Refused { scratch.isRefused = true }
    for table in 0..<2 {
      for key in scratch.written[table] {
        guard let item = scratch.items[table][key] else { continue }
        if (try? CBOREncoder().encode(item)) == nil { scratch.isRefused = true }
      }
    }
    guard !scratch.isRefused else { return failures.append(sequence) }
    items = scratch.items
    for table in 0..<2 {
      for key in scratch.written[table] {
        guard let item = items[table][key] else {
          rows[table][key] = nil
          continue
        }
        let document = try CBOREncoder().encode(item)
        let old = rows[table][key]
        if old?.document == document, !recordsTouches { continue }
        let isNew = scratch.removed[table].contains(key) && old?.document != document
        rows[table][key] = Row(
          document: document, revision: sequence, created: isNew ? sequence : old?.created ?? sequence)
      }
    }
  }
}

@Suite struct KeptRowsTests {
  private struct History {
    var store: EventStore
    /// The operations of each event; nil for an event of another kind.
    var scripts: [[Operation]?] = []
    var head: UInt64 { UInt64(scripts.count) }
  }

  private func history(_ random: inout SeededGenerator) throws -> History {
    var history = History(store: .inMemory(clock: .fixed))
    for _ in 0..<Int.random(in: 1...(Int.random(in: 0..<10, using: &random) == 0 ? 60 : 14), using: &random) {
      var events: [NewEvent] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        guard Int.random(in: 0..<12, using: &random) > 0 else {
          events.append(NewEvent("unrelated", in: "s/1", .null))
          history.scripts.append(nil)
          continue
        }
        // Most events fail seldom, and one event in a few changes more rows than are searched one after another.
        let operations = (0..<Int.random(in: 1...(Bool.random(using: &random) ? 3 : 16), using: &random)).map
        {
          _ in
          var kind = Operation.Kind.allCases.randomElement(using: &random)!
          if [.fail, .tooLong, .stubborn].contains(kind), Int.random(in: 0..<4, using: &random) > 0 {
            kind = .add
          }
          return Operation(
            kind: kind, table: Int.random(in: 0..<2, using: &random),
            id: Int.random(in: 0..<rowIDs.count, using: &random),
            other: Int.random(in: 0..<rowIDs.count, using: &random),
            value: Int.random(in: 0..<8, using: &random))
        }
        let (type, payload) = try ScriptEvent.run(operations: operations).encoded()
        events.append(NewEvent(type, in: "s/1", payload: payload))
        history.scripts.append(operations)
      }
      try history.store.appendBlocking(events)
    }
    return history
  }

  private static let definition = ViewDefinition(identity: ViewIdentity("length"), sectionOrder: .key) {
    row, writer in
    writer.append("section \(row.document.count % 3)")
    let section = writer.count
    writer.append("\(row.document.count)")
    return PlacedLengths(section: section)
  }

  private func content(_ set: TableSet, _ table: Int) -> [Key: Model.Row] {
    var content: [Key: Model.Row] = [:]
    set["table-\(table)"].forEachRow { row in
      content[Key(row.idText)] = Model.Row(
        document: Array(row.document), revision: row.revision, created: row.created)
    }
    return content
  }

  private func expectEqual(_ set: TableSet, _ model: Model, _ what: String) {
    for table in 0..<2 { #expect(content(set, table) == model.rows[table], "\(what), table \(table)") }
    #expect(set.failures.listed.map(\.sequence) == Array(model.failures.prefix(100)), "\(what)")
  }

  /// The same folding, in one go or in pieces, from the beginning or from a published state. The first one has a view.
  private func states(
    _ history: History, _ folding: Folding, _ countMax: Int, _ random: inout SeededGenerator
  ) throws -> [TableSet] {
    let log = history.store.log
    let unplaced = [1, 2, 5, UnplacedRows.countMax].randomElement(using: &random)!
    func fold() -> Fold { Fold(log, folding, keptRowCountMax: countMax, unplacedCountMax: unplaced) }
    let whole = fold()
    whole.state.withTable("table-0") { $0.addView(Self.definition) }
    try whole.run(through: .max)
    // A slice that is over stops the fold after every event.
    let slice = TimeSlice()
    slice.setWanted(false)
    let sliced = fold()
    while try !sliced.run(through: history.head, slice) {}
    let stop = UInt64.random(in: 0...history.head, using: &random)
    let first = fold()
    try first.run(through: stop)
    let published = first.state
    let hash = published.stateHash
    let next = Fold(
      log, folding, from: published, keptRowCountMax: countMax, unplacedCountMax: unplaced)
    try next.run(through: .max)
    try first.run(through: .max)
    #expect(published.stateHash == hash, "a published state changed")
    // Stops at random events, and lends the state at the end of each append in between.
    let pieces = fold()
    var lent: [TableSet] = []
    while pieces.state.sequence < history.head {
      let end = UInt64.random(in: pieces.state.sequence + 1...history.head, using: &random)
      if Bool.random(using: &random) {
        try pieces.run(through: end)
      } else {
        try pieces.runByAppend(through: end) { lent.append(copy $0) }
      }
    }
    for state in lent {
      let alone = fold()
      try alone.run(through: state.sequence)
      #expect(alone.state.stateHash == state.stateHash, "the state lent after event \(state.sequence)")
    }
    return [whole.state, sliced.state, next.state, first.state, pieces.state]
  }

  private func items(_ view: View) -> [[UInt8]] {
    var items: [[UInt8]] = []
    view.forEachItem(in: 0..<view.count) { items.append(Array($0.bytes)) }
    return items
  }

  @Test(arguments: [false, true])
  func `A fold that keeps rows reaches the state of the model, however many it keeps and wherever it stops`(
    recordsTouches: Bool
  ) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<100 {
      let history = try history(&random)
      var model = Model(recordsTouches: recordsTouches)
      for (index, script) in history.scripts.enumerated() {
        if let script { try model.apply(script, UInt64(index + 1)) }
      }
      let folding = recordsTouches ? Folding.touching(.own(Scripts())) : .own(Scripts())
      for countMax in [0, 1, 3, KeptRows.rowCountMax] {
        for (place, set) in try states(history, folding, countMax, &random).enumerated() {
          expectEqual(set, model, "round \(round), \(countMax) rows kept, fold \(place)")
          for table in set.tables { #expect(table.checkInvariants() == nil) }
          let table = set["table-0"]
          guard let view = table.view(Self.definition.identity) else { continue }
          let built = View(Self.definition, of: table)
          #expect(items(view) == items(built) && view.sectionCount == built.sectionCount)
        }
      }
    }
  }

  @Test
  func `The changes between two states are the rows that differ, and none that was changed back`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<100 {
      let history = try history(&random)
      let fold = Fold(history.store.log, .own(Scripts()))
      for sequence in 1...history.head {
        let old = fold.state
        try fold.run(through: sequence)
        for table in 0..<2 {
          let (before, after) = (content(old, table), content(fold.state, table))
          let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
          var changed = Set<Key>()
          Table.forEachChange(from: old["table-\(table)"], to: fold.state["table-\(table)"]) { change in
            changed.insert(Key(String(decoding: change.id, as: UTF8.self)))
          }
          #expect(changed == differing)
          for key in differing { #expect(after[key].map { $0.revision == sequence } ?? true) }
        }
      }
    }
  }
}
