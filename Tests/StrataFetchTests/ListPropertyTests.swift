// Random histories, random requests: the list is the naive one, and every batch makes it of the one before.

internal import StrataEvents
@testable internal import StrataFetch
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct ListPropertyTests {
  #if DEBUG
    static let historyCount = 250
  #else
    static let historyCount = 4_000
  #endif

  @Test("A list is the naive one at every commit, and each batch makes it of any earlier one")
  func lists() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var classes = ChangeClasses()
    for _ in 0..<Self.historyCount {
      var history = ListHistory(random: random.split())
      try history.run(&classes)
    }
    print(classes)
    #expect(classes.missing == [])
  }
}

/// How often each kind of change was seen, so that a run that tests nothing is found out.
struct ChangeClasses: CustomStringConvertible {
  var counts: [String: Int] = [:]

  mutating func add(_ diff: ListDiff, kind: String) {
    func count(_ name: String, _ number: Int) { counts[name, default: 0] += number }
    count("deletions", diff.deletions.count)
    count("insertions", diff.insertions.count)
    count("moves within", diff.moves.count { $0.from.section == $0.to.section })
    count("moves across", diff.moves.count { $0.from.section != $0.to.section })
    count("moves without change", diff.moves.count { !$0.isChanged })
    count("updates", diff.updates.count)
    count("section deletions", diff.sectionDeletions.count)
    count("section insertions", diff.sectionInsertions.count)
    count("section moves", diff.sectionMoves.count)
    count("section updates", diff.sectionUpdates.count)
    count("empty batches", diff.isEmpty ? 1 : 0)
    count(kind, 1)
  }

  var missing: [String] { counts.filter { $0.value == 0 }.map(\.key).sorted() }

  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

/// One random table with one random list over it.
struct ListHistory {
  private struct Moment {
    var set: TableSet
    var model: ModelTable
  }

  private var random: SeededGenerator
  private var set = TableSet()
  private var model = ModelTable()
  private var sequence: UInt64 = 0
  private let scratch = FoldScratch()
  private let ids: [String]
  private let sections: [DocumentValue?]
  private let keys: [DocumentValue?]

  init(random: SeededGenerator) {
    self.random = random
    let names = ["a", "ab", "b", "é", "e\u{301}", "", "z\u{0}", "z"]
    let count = Int.random(in: 1...28, using: &self.random)
    ids = names + (0..<count).map { "row \($0)" }
    let values: [DocumentValue?] = [
      nil, .null, .string("x"), .string(""), .string("é"), .string("e\u{301}"), .int(1), .double(1), .int(2),
      .bool(true), .string("y"),
    ]
    // Of few sections each is looked at to find one, of many a dictionary is asked: both need rows.
    let many = values + (3..<12).map { .int($0) }
    let isWide = Int.random(in: 0..<4, using: &self.random) == 0
    sections = Array(
      (isWide ? many : values).shuffled(using: &self.random)
        .prefix(isWide ? many.count : Int.random(in: 1...6, using: &self.random)))
    let numbers: [DocumentValue?] = [
      nil, .double(-0.0), .int(0), .double(.nan), .double(-.infinity), .int(7), .double(7), .string("7"),
    ]
    keys =
      numbers.shuffled(using: &self.random).prefix(Int.random(in: 1...8, using: &self.random))
      + (0..<4).map { .int($0) }
  }

  mutating func run(_ classes: inout ChangeClasses) throws {
    var request = randomRequest()
    var other = randomRequest()
    // A list with sections stays one: its type says so.
    other.section = request.section
    var list = try request.request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    var moments = [Moment(set: set, model: model)]
    if Bool.random(using: &random) {
      for _ in 0..<3 { commit() }
      moments = [Moment(set: set, model: model)]
    }
    set.withTable("t") { $0.addView(list.definition) }
    moments[0].set = set
    var shown = try check(moments[0], request, list)
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      let before = shown
      commit()
      // The window moves in the same step, on the same view.
      if Int.random(in: 0..<4, using: &random) == 0 {
        (request.window, request.sectionWindow) = randomWindows()
        list = try request.request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
      }
      let moment = Moment(set: set, model: model)
      moments.append(moment)
      shown = try check(moment, request, list)
      try check(before, shown, request, "commits", &classes)
    }
    for _ in 0..<3 {
      let (a, b) = (moments.randomElement(using: &random)!, moments.randomElement(using: &random)!)
      try check(try check(a, request, list), try check(b, request, list), request, "pairs", &classes)
      // The same moments rebuilt from the rows alone, and under another request.
      let old = try rebuilt(a, request)
      try check(old, try rebuilt(b, request), request, "rebuilt pairs", &classes)
      try check(old, try rebuilt(b, other), other, "reconfigured", &classes)
    }
  }

  // MARK: Changing

  private mutating func commit() {
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      sequence += 1
      let name = ids.randomElement(using: &random)!
      let id = Array(name.utf8)
      if Int.random(in: 0..<5, using: &random) == 0 {
        model.rows[id] = nil
        withTable { $0.remove(id: $1, scratch) }
      } else {
        var document = model.rows[id]?.document ?? [:]
        for (field, values) in [("s", sections), ("k", keys), ("l", keys)]
        where Bool.random(using: &random) { document[field] = values.randomElement(using: &random)! }
        if Bool.random(using: &random) { document["flag"] = .bool(Int.random(in: 0..<4, using: &random) > 0) }
        if Bool.random(using: &random) { document["content"] = .int(Int64.random(in: 0..<3, using: &random)) }
        model.put(id, document, at: sequence)
        let (bytes, stamp) = (DocumentValue.object(document).cbor(), Stamp(sequence: sequence, time: 0))
        withTable { table, id in
          bytes.withUnsafeBytes { table.put(id: id, document: $0, at: stamp, scratch) }
        }
      }
      func withTable(_ body: (inout Table, UnsafeRawBufferPointer) -> Void) {
        id.withUnsafeBytes { id in set.withTable("t") { body(&$0, id) } }
      }
    }
  }

  private mutating func randomRequest() -> ModelRequest {
    var request = ModelRequest()
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    if !chance(5) { request.section = "s" }
    switch Int.random(in: 0..<9, using: &random) {
    case 0: request.order = .keyDescending
    case 1: request.order = .list(sections.map { $0 ?? .null }.shuffled(using: &random).dropLast())
    case 2: request.order = .first
    case 3: request.order = .count
    case 4: request.order = .ranked
    case 5: request.order = .compared
    case 6, 7:
      request.order = .extreme(chance(2) ? "k" : "l", isMaximum: chance(2), isDescending: chance(2))
    default: break
    }
    for field in ["k", "l"] where !chance(3) {
      request.sorts.append(.init(field: field, isDescending: chance(2), areNilsLast: chance(3)))
    }
    if chance(3) { request.flag = !chance(3) }
    (request.window, request.sectionWindow) = randomWindows()
    if chance(3) { request.nils = chance(2) ? .last : .required }
    if chance(3) {
      let values = sections.map { $0 ?? .null } + [.string("never"), .double(2), .array([1])]
      request.declared = Array(values.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
    }
    return request
  }

  private mutating func randomWindows() -> (ListWindow, ListWindow) {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    func window(_ longest: Int, isOften: Bool) -> ListWindow {
      guard chance(isOften ? 2 : 4) else { return .all }
      let length = chance(5) ? nil : Int.random(in: 0...longest, using: &random)
      let offset = chance(2) ? 0 : Int.random(in: 0...longest, using: &random)
      return ListWindow(length: length, offset: offset, pin: chance(2) ? .beginning : .end)
    }
    return (window(12, isOften: true), window(4, isOften: false))
  }

  // MARK: Checking

  private func check(
    _ moment: Moment, _ request: ModelRequest, _ list: CompiledList
  ) throws -> ListVersion {
    let version = ListVersion(
      moment.set, table: "t", view: list.definition.identity, window: list.window,
      isSectioned: list.isSectioned)
    let expected = ModelList(request, of: moment.model)
    try #require(ModelList(version) == expected, "\(request)")
    try #require(version.itemCount == expected.sections.reduce(0) { $0 + $1.items.count })
    var offset = 0
    for (section, content) in expected.sections.enumerated() {
      try #require(version.offset(ofSectionAt: section) == offset)
      for (item, row) in content.items.enumerated() {
        try #require(version.position(atOffset: offset) == ListIndex(section: section, item: item))
        offset += 1
        let position = row.id.withUnsafeBytes { version.position(of: $0) }
        try #require(position == ListIndex(section: section, item: item), "\(request)")
      }
    }
    return version
  }

  private func rebuilt(_ moment: Moment, _ request: ModelRequest) throws -> ListVersion {
    let list = try request.request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    var moment = moment
    moment.set.withTable("t") { table in
      for view in table.views { table.removeView(view.definition.identity) }
      table.addView(list.definition)
    }
    return try check(moment, request, list)
  }

  private func check(
    _ old: ListVersion, _ new: ListVersion, _ request: ModelRequest, _ kind: String,
    _ classes: inout ChangeClasses
  ) throws {
    let (diff, cost) = ListDiff.found(from: old, to: new)
    classes.add(diff, kind: kind)
    let (before, after) = (ModelList(old), ModelList(new))
    try #require(try before.applying(diff, toward: after) == after)
    let isSameList = old.view.definition.identity == new.view.definition.identity
    if isSameList {
      // Items that cross an edge, changed rows on the way, and where each of four walks ends in a section.
      let crossing = diff.deletions.count + diff.insertions.count
      try #require(cost.items <= crossing + 2 * cost.rows + 4 * cost.sections)
    }
    try #require(
      BatchLaws(before, after, old, new, isSameList: isSameList).broken(by: diff) == [],
      "\(kind) of \(request)\n\(before)\n\(after)\n\(diff)")
    try EmitterChecks(before, after, diff).checkAll()
  }
}
