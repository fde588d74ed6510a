// A random log of documents, and the naive model of every prefix of it.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting

/// A store in memory with documents in the category `t`.
struct RandomLog {
  let store: EventStore
  /// The rows after each number of events.
  var models: [ModelTable] = [ModelTable()]
  /// The last sequence of each append.
  var ends: [UInt64] = []
  let ids: [String]
  private static let sections: [DocumentValue?] = [
    nil, .null, .string("x"), .string("é"), .string("e\u{301}"), .int(1), .double(1), .int(2), .bool(true),
  ]
  private static let keys: [DocumentValue?] = [
    nil, .double(-0.0), .int(0), .double(.nan), .int(7), .double(7), .string("7"), .int(2), .int(3),
  ]

  /// - Parameter problems: whether some rows have values that no list can sort by.
  init(
    appends: Int = 0, eventsMax: Int = 4, rows: Int = 12, problems: Bool = false,
    options: StoreOptions = StoreOptions(), _ random: inout SeededGenerator
  ) throws {
    store = EventStore.inMemory(clock: .fixed, options: options)
    ids = ["a", "ab", "é", "e\u{301}"] + (0..<rows).map { "row \($0)" }
    for _ in 0..<appends {
      try append(Int.random(in: 1...eventsMax, using: &random), problems: problems, &random)
    }
  }

  var head: UInt64 { UInt64(models.count - 1) }

  /// Makes one append of a number of events.
  mutating func append(_ count: Int, problems: Bool = false, _ random: inout SeededGenerator) throws {
    var events: [NewEvent] = []
    var model = models[models.count - 1]
    for _ in 0..<count {
      let id = ids.randomElement(using: &random)!
      let bytes = Array(id.utf8)
      if Int.random(in: 0..<5, using: &random) == 0 {
        events.append(NewEvent(DocumentEvent.delete, in: "t/\(id)", .null))
        model.rows[bytes] = nil
      } else {
        var document = model.rows[bytes]?.document ?? [:]
        if Bool.random(using: &random) { document["s"] = Self.sections.randomElement(using: &random)! }
        if Bool.random(using: &random) { document["k"] = Self.keys.randomElement(using: &random)! }
        if Bool.random(using: &random) { document["l"] = Self.keys.randomElement(using: &random)! }
        if problems, Int.random(in: 0..<8, using: &random) == 0 { document["k"] = .array([]) }
        if Bool.random(using: &random) { document["flag"] = .bool(Int.random(in: 0..<4, using: &random) > 0) }
        events.append(NewEvent(DocumentEvent.put, in: "t/\(id)", .object(document)))
        model.put(bytes, document, at: head + 1)
      }
      models.append(model)
    }
    ends.append(try store.appendBlocking(events).sequences.upperBound)
  }

  func controller(_ request: ModelRequest) -> FetchController<DocumentRow, DocumentValue> {
    FetchController(request.request, from: store.documents("t"))
  }
}

extension StoreOptions {
  /// Options with which a history has runs, merges and bases after a few events.
  static func history(_ random: inout SeededGenerator) -> StoreOptions {
    var options = StoreOptions()
    options.history = .all
    options.runLimits.changeCountMax = Int.random(in: 2...30, using: &random)
    options.runLimits.laggingCount = [1, 8].randomElement(using: &random)!
    options.runLimits.mergedCount = Int.random(in: 2...4, using: &random)
    options.runLimits.baseChangeCountMin = UInt64.random(in: 20...100, using: &random)
    options.runLimits.pageLength = [60, 4_096].randomElement(using: &random)!
    return options
  }
}

extension ModelRequest {
  /// - Parameter section: the field of the sections; nil for none.
  static func random(section: String?, _ random: inout SeededGenerator) -> ModelRequest {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    var request = ModelRequest(section: section)
    let values: [DocumentValue] = [.string("x"), .int(2), .null]
    request.order = [.key, .keyDescending, .first, .count, .list(values)].randomElement(using: &random)!
    for field in ["k", "l"] where !chance(3) {
      request.sorts.append(.init(field: field, isDescending: chance(2), areNilsLast: chance(3)))
    }
    if chance(3) { request.flag = !chance(3) }
    if chance(2) { request.window = .first(Int.random(in: 0...12, using: &random)) }
    if chance(4) { request.sectionWindow = .first(Int.random(in: 0...4, using: &random)) }
    return request
  }
}

/// A list as plain arrays that typed batches change, like a view.
struct ArrayList<ID: Hashable & Sendable, Section: Hashable & Sendable>: Equatable {
  struct Part: Equatable {
    var section: Section
    var items: [ID]
  }

  var parts: [Part] = []

  init<Item>(_ snapshot: ListSnapshot<Item, Section>) where Item.ID == ID {
    parts = (0..<snapshot.numberOfSections).map { place in
      Part(
        section: snapshot.sectionIdentifier(at: place), items: snapshot.itemIdentifiers(inSectionAt: place))
    }
  }

  func applying(_ changes: ListChanges<ID, Section>) throws(ModelError) -> ArrayList {
    var list = self
    let gone = changes.deletions.map { ($0.from, $0.id) } + changes.moves.map { ($0.from, $0.id) }
    for (from, id) in gone.sorted(by: { $0.0 > $1.0 }) {
      guard from.section < parts.count, from.item < parts[from.section].items.count,
        parts[from.section].items[from.item] == id
      else { throw ModelError(what: "\(id) is not at \(from)") }
      list.parts[from.section].items.remove(at: from.item)
    }
    let places = changes.sectionDeletions.map(\.from) + changes.sectionMoves.map(\.from)
    guard places.allSatisfy({ $0 < parts.count }) else { throw ModelError(what: "a section is not there") }
    let moving = changes.sectionMoves.map { ($0.to, list.parts[$0.from]) }
    for from in places.sorted(by: >) { list.parts.remove(at: from) }
    let coming = moving + changes.sectionInsertions.map { ($0.to, Part(section: $0.section, items: [])) }
    for (to, part) in coming.sorted(by: { $0.0 < $1.0 }) {
      guard to <= list.parts.count else { throw ModelError(what: "a section is inserted past the end") }
      list.parts.insert(part, at: to)
    }
    let put = changes.insertions.map { ($0.to, $0.id) } + changes.moves.map { ($0.to, $0.id) }
    for (to, id) in put.sorted(by: { $0.0 < $1.0 }) {
      guard to.section < list.parts.count, to.item <= list.parts[to.section].items.count else {
        throw ModelError(what: "\(id) is inserted past the end, at \(to)")
      }
      list.parts[to.section].items.insert(id, at: to.item)
    }
    return list
  }
}
