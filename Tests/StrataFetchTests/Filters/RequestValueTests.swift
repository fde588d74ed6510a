// Requests with the program's values in them: a request with another value is another request.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import StrataViews
internal import Testing

@Suite struct RequestValueTests {
  typealias Request = ListRequest<Chore, Unsectioned>

  private static let all = ListRequest(Chore.self)

  private static func chores(_ owners: String?...) async throws -> DocumentCollection<Chore> {
    let chores = EventStore.inMemory(clock: .fixed).collection("task", of: Chore.self)
    try await chores.put(
      owners.enumerated().map { Chore(id: $0.offset, title: "t\($0.offset)", owner: $0.element) })
    return chores
  }

  /// The same condition on an owner, with the owner in a filter, in a predicate and in an id.
  enum Condition: CaseIterable {
    case template, predicate, optionalPredicate, id, sectionOrder

    func request(_ owner: String) -> Request {
      switch self {
      case .template: return all.filtered(by: "owner == \(owner)")
      case .predicate: return all.filtered(by: #Predicate { ($0.owner ?? "") == owner })
      case .optionalPredicate:
        let owner: String? = owner
        return all.filtered(by: #Predicate { $0.owner == owner })
      case .id: return all.filtered(id: ["owner", owner]) { $0.owner == owner }
      case .sectionOrder:
        return all.sectionsOrdered(id: owner) { _ in owner }.filtered(by: "owner == \(owner)")
      }
    }
  }

  @Test(arguments: Condition.allCases)
  func `R60 Requests are equal exactly if the values in them are the same`(_ condition: Condition)
    async throws
  {
    for owner in ["ann", "it's", "é", "", "'a' || 1 == 1"] {
      let request = condition.request(owner)
      #expect(request == condition.request(owner) && request.hashValue == condition.request(owner).hashValue)
      for other in ["bob", "e\u{301}", "é ", "a"] {
        #expect(request != condition.request(other), "\(owner) and \(other)")
      }
    }
  }

  @Test(arguments: Condition.allCases)
  func `R22 A list whose request gets another value shows the rows of that value`(_ condition: Condition)
    async throws
  {
    let list = FetchController(
      condition.request("ann"), from: try await Self.chores("ann", "bob", "ann", nil, "ann' || owner != '"))
    #expect(try await list.performFetch().itemIdentifiers == [0, 2])
    try await list.apply(condition.request("bob"))
    #expect(try await list.performFetch().itemIdentifiers == [1])
    try await list.apply(condition.request("ann' || owner != '"))
    #expect(try await list.performFetch().itemIdentifiers == [4])
  }

  @Test
  func `A literal is a template, and a String is text, wherever a filter is expected`() async throws {
    let chores = try await Self.chores("ann", "bob", "owner == 'ann'")
    let text = "owner == 'ann'"
    func found(_ request: Request) async throws -> [Int] {
      try await FetchController(request, from: chores).performFetch().itemIdentifiers
    }
    #expect(try await found(Self.all.filtered(parsing: text)) == [0])
    #expect(try await found(Self.all.filtered(by: "owner == \(text)")) == [2])
    #expect(Self.all.filtered(parsing: text) == Self.all.filtered(by: "owner == 'ann'"))
    #expect(Self.all.filtered(parsing: text) == Self.all.filtered(by: "owner == \("ann")"))
    #expect(try await chores.all(parsing: text).map(\.id) == [0])
    #expect(try await chores.all(where: "owner == \(text)").map(\.id) == [2])
    #expect(try RowFilter(parsing: text).description == text)
    #expect(try RowFilter("owner == \(text)").description == "owner == 'owner == \\'ann\\''")
    #expect(try await chores.all(where: "owner == \(text)", at: .head).map(\.id) == [2])
    #expect(try await chores.all(parsing: text.dropFirst(0), at: .head).map { $0.id + 1 } == [1])
    #expect(try RowFilter(FilterTemplate("owner == \(text)")) == RowFilter("owner == \(text)"))
    #expect(try RowFilter(FilterTemplate(parsing: text)) == RowFilter(parsing: text.dropFirst(0)))
    let isKnown = !text.isEmpty
    #expect(try await found(Self.all.filtered(by: isKnown ? "owner == \(text)" : "id == 0")) == [2])
    await #expect(throws: ListError.self) { try await chores.all(where: "owner == '\(text)'") }
    var request = DiffableFetchRequest<Chore, Unsectioned>(filter: "owner == \(text)")
    #expect(request.listRequest == Self.all.filtered(by: "owner == \(text)").sectionsOrdered(by: .key))
    request.filter = FilterTemplate(parsing: text)
    #expect(request.listRequest == Self.all.filtered(parsing: text).sectionsOrdered(by: .key))
  }

  @Test
  func `R69 A list says in the filter language what values its filter has, and which closure left a row out`()
    async throws
  {
    let owner = "it's \"ann\"\n"
    let list = FetchController(
      Self.all.filtered(by: "owner == \(owner)").filtered(id: "open") { !$0.isDone }
        .filtered(id: ["since", "3"]) { $0.id >= 3 },
      from: try await Self.chores(owner, "bob"))
    let names = try await list.why(0).filters.map(\.name)
    #expect(names == ["owner == 'it\\'s \"ann\"\\n'", "open", #"["since","3"]"#])
    let parsed = try RowFilter(FilterTemplate(parsing: names[0]))
    #expect(try parsed == RowFilter("owner == \(owner)"))
  }
}

// MARK: Predicates

extension RequestValueTests {
  private struct Limits: Codable, Hashable, Sendable {
    var first: Int

    init(first: Int) { self.first = first }
    init(from decoder: any Decoder) throws { first = 0 }
    func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "never"))
    }
  }

  private struct Bounds: Codable, Hashable, Sendable { var first: Int, last: Int }

  @Test
  func `R60 Predicates are equal by how they are built and what they capture`() {
    func above(_ limit: Int) -> Request { Self.all.filtered(by: #Predicate { $0.id > limit }) }
    func from(_ limit: Int) -> Request { Self.all.filtered(by: #Predicate { $0.id >= limit }) }
    func among(_ titles: Set<String>) -> Request {
      Self.all.filtered(by: #Predicate { titles.contains($0.title) })
    }
    func owned(_ owner: String?) -> Request { Self.all.filtered(by: #Predicate { $0.owner == owner }) }
    func inside(_ range: Bounds) -> Request {
      Self.all.filtered(by: #Predicate { $0.id >= range.first && $0.id <= range.last })
    }
    func done(_ flag: Bool) -> Request { Self.all.filtered(by: #Predicate { $0.isDone == flag }) }
    let titles = (0..<100).map { "t\($0)" }
    let same: [(Request, Request)] = [
      (above(3), above(3)), (from(3), from(3)), (owned(nil), owned(nil)), (owned("x"), owned("x")),
      (among(Set(titles)), among(Set(titles.reversed()))),
      (inside(Bounds(first: 1, last: 2)), inside(Bounds(first: 1, last: 2))), (done(true), done(true)),
    ]
    for (a, b) in same { #expect(a == b && a.hashValue == b.hashValue) }
    let different =
      same.map(\.0) + [
        above(4), owned(""), among(["t1"]), inside(Bounds(first: 1, last: 3)), done(false),
        Self.all.filtered(by: #Predicate { $0.id < 3 }),
        Self.all.filtered(by: #Predicate { $0.title == "x" }),
        Self.all.filtered(by: #Predicate { "x" == $0.title }),
      ]
    for (place, a) in different.enumerated() {
      for b in different[(place + 1)...] { #expect(a != b) }
    }
  }

  @Test
  func `R60 A predicate's own variables are told apart, and are the same in its next copy`() {
    let base = ListRequest(Ticket.self)
    func outer() -> ListRequest<Ticket, Unsectioned> {
      base.filtered(
        by: #Predicate { ticket in ["a", "b"].contains { word in ticket.title == ticket.title } })
    }
    func inner() -> ListRequest<Ticket, Unsectioned> {
      base.filtered(by: #Predicate { ticket in ["a", "b"].contains { word in word == ticket.title } })
    }
    func swapped() -> ListRequest<Ticket, Unsectioned> {
      base.filtered(
        by: #Predicate { ticket in
          ["a", "b"].contains { x in ["c"].contains { y in x == y && ticket.title == x } }
        })
    }
    func straight() -> ListRequest<Ticket, Unsectioned> {
      base.filtered(
        by: #Predicate { ticket in
          ["a", "b"].contains { x in ["c"].contains { y in y == x && ticket.title == x } }
        })
    }
    #expect(outer() == outer() && inner() == inner() && swapped() == swapped())
    #expect(outer() != inner() && swapped() != straight())
  }

  @Test
  func `R60 A predicate that captures what cannot be encoded equals only its copies, unless it has an id`() {
    func request(_ limits: Limits) -> Request { Self.all.filtered(by: #Predicate { $0.id > limits.first }) }
    let one = request(Limits(first: 1))
    let copy = one
    #expect(one == copy && one != request(Limits(first: 1)))
    func named(_ limits: Limits) -> Request {
      Self.all.filtered(id: limits.first, by: #Predicate { $0.id > limits.first })
    }
    #expect(
      named(Limits(first: 1)) == named(Limits(first: 1)) && named(Limits(first: 1)) != named(Limits(first: 2))
    )
  }
}

// MARK: Ids

extension RequestValueTests {
  private static func identified(_ id: some Codable & Hashable & Sendable) -> Request {
    all.filtered(id: id) { _ in true }
  }

  @Test
  func `R60 Closures are equal by the bytes of their ids`() throws {
    let uuid = UUID()
    let words = (0..<100).map { "word \($0)" }
    let same: [(Request, Request)] = [
      (Self.identified("x"), Self.identified("x")), (Self.identified(1), Self.identified(Int8(1))),
      (Self.identified(uuid), Self.identified(uuid)),
      (Self.identified(Bounds(first: 1, last: 2)), Self.identified(Bounds(first: 1, last: 2))),
      (Self.identified(Set(words)), Self.identified(Set(words.reversed()))),
      (Self.identified(["é"]), Self.identified(["é"])),
      (Self.identified(Double.nan), Self.identified(Double.nan)),
    ]
    for (a, b) in same { #expect(a == b && a.hashValue == b.hashValue) }
    let different =
      same.map(\.0) + [
        Self.identified("1"), Self.identified(UUID()), Self.identified(["e\u{301}"]), Self.identified(1.0),
        Self.all,
        Self.identified(Bounds(first: 1, last: 3)), Self.identified(Limits(first: 1)),
        Self.identified(Limits(first: 1)),
        Self.all.sectionsOrdered(id: "x") { _ in 1 }, Self.all.sectionsOrdered(id: "x") { _, _ in true },
      ]
    for (place, a) in different.enumerated() {
      for b in different[(place + 1)...] { #expect(a != b) }
    }
  }

  @Test
  func `R60 The bytes of an id are the same in every process`() {
    #expect(StableBytes.encoded("x") == [0x61, 0x78])
    #expect(StableBytes.encoded(7) == [7])
    #expect(StableBytes.encoded(["owner", "x"]) == [0x82, 0x65, 0x6F, 0x77, 0x6E, 0x65, 0x72, 0x61, 0x78])
    #expect(StableBytes.encoded(Set([3, 1, 2])) == [0x83, 1, 2, 3])
    #expect(
      StableBytes.encoded(Bounds(first: 1, last: 2))
        == [0xA2, 0x64, 0x6C, 0x61, 0x73, 0x74, 2, 0x65, 0x66, 0x69, 0x72, 0x73, 0x74, 1])
    #expect(StableBytes.encoded(Limits(first: 1)) == nil)
    // A set is a level more.
    var deep = DocumentValue.null
    for _ in 0..<128 { deep = [deep] }
    #expect(StableBytes.encoded(deep) != nil && StableBytes.encoded(Set([deep])) == nil)
  }
}
