// Malformed rows, and requests at their limits: nothing traps, and rows that cannot be shown are reported.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

private struct Note: Codable, Identifiable, Sendable, Equatable {
  enum Kind: Int, Codable, SortKey { case low, high }

  var id: String
  var text: String?
  var kind: Kind?
  var date: Date?
  var isDone: Bool?
  var count: Int?
}

/// Its type reads an id only from capitals, and a document may hold another.
private struct Plate: Codable, Identifiable, Sendable {
  struct ID: DocumentID, Codable {
    var documentID: String

    init?(documentID: String) {
      guard documentID == documentID.uppercased() else { return nil }
      self.documentID = documentID
    }

    init(from decoder: any Decoder) throws { documentID = try String(from: decoder) }
    func encode(to encoder: any Encoder) throws { try documentID.encode(to: encoder) }
  }

  var id: ID
}

private struct Keyed: Codable, Identifiable, Sendable {
  var id: UUID
}

@Suite struct HostileRowTests {
  private func put(_ store: EventStore, _ stream: StreamName, _ document: DocumentValue) async throws {
    try await store.append([NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(document))])
  }

  /// Appends a document event whose stream's name need not be UTF-8.
  private func put(_ store: EventStore, bytes stream: [UInt8], _ payload: [UInt8]) async throws {
    let draft = AppendDraft()
    stream.withUnsafeBytes { stream in
      payload.withUnsafeBytes { payload in
        Array(DocumentEvent.put.utf8).withUnsafeBytes { type in
          draft.add(
            stream: stream, type: type, codec: PayloadCodec.cbor.rawValue,
            metadata: UnsafeRawBufferPointer(start: nil, count: 0), payload: payload)
        }
      }
    }
    _ = try await store.append(draft)
  }

  @Test
  func `R10 A row whose id is not written as its type writes it is a problem, and no second item`()
    async throws
  {
    let store = EventStore.inMemory()
    for text in ["7", "07", "+7", "-0", "0"] {
      try await put(store, "task/\(text)", ["id": 7, "title": .string(text), "isDone": false])
    }
    let list = FetchController(
      ListRequest(Chore.self).sorted(by: \.title), from: store.collection("task", of: Chore.self))
    let snapshot = try await list.performFetch()
    #expect(snapshot.itemIdentifiers == [7])
    #expect(snapshot.row(for: 7)?.title == "7")
    #expect(snapshot.problems.map(\.id) == ["+7", "-0", "0", "07"])
    let id = UUID()
    try await put(store, "keyed/\(id.uuidString.lowercased())", ["id": .string(id.uuidString)])
    let keyed = FetchController(ListRequest(Keyed.self), from: store.collection("keyed", of: Keyed.self))
    #expect(try await keyed.performFetch().numberOfProblems == 1)
    #expect(try await keyed.performFetch().numberOfItems == 0)
  }

  @Test
  func `A row whose document has another id than its stream is a problem`() async throws {
    let store = EventStore.inMemory()
    try await put(store, "note/a", ["id": "b"])
    try await put(store, "note/c", ["id": "c"])
    let list = FetchController(ListRequest(Note.self), from: store.collection("note", of: Note.self))
    let snapshot = try await list.performFetch()
    #expect(snapshot.itemIdentifiers == ["c"])
    #expect(snapshot.problems.map(\.id) == ["a"])
  }

  @Test
  func `R76 A row that a filter by fields rejects is no problem, though it does not decode`() async throws {
    let store = EventStore.inMemory()
    try await put(store, "note/a", ["id": "a", "text": 5, "count": 1])
    try await put(store, "note/b", ["id": "b", "text": "x", "count": 2])
    try await put(store, "note/c", ["id": "c", "text": 5, "count": 3])
    func problems(_ filter: FilterTemplate) async throws -> [String] {
      let request = ListRequest(Note.self).sectioned(by: \.text).filtered(by: filter)
      let snapshot = try await FetchController(request, from: store.collection("note", of: Note.self))
        .performFetch()
      #expect(snapshot.itemIdentifiers == ["b"])
      return snapshot.problems.map(\.id)
    }
    #expect(try await problems("count > 0") == ["a", "c"])
    #expect(try await problems("count > 1") == ["c"])
    // A key path makes the section, so the filter needs the row.
    #expect(try await problems("count > 1 && $section == 'x'") == ["a", "c"])
    let searched = ListRequest(Note.self).sectioned(byField: try FieldPath("text"))
      .filtered(by: "$section == 'x'").searched(for: "b", inFields: try FieldPath("$id"))
    let snapshot = try await FetchController(searched, from: store.collection("note", of: Note.self))
      .performFetch()
    #expect(snapshot.itemIdentifiers == ["b"] && snapshot.numberOfProblems == 0)
  }

  @Test
  func `a document that is nested too deep is the section of no row`() async throws {
    let store = EventStore.inMemory()
    try await put(store, "note/a", ["id": "a", "text": "x", "count": 1])
    var deep = DocumentValue.null
    for _ in 0..<200 { deep = [deep] }
    let request = ListRequest(Note.self).sectioned(byField: try FieldPath("text"))
    let snapshot = try await FetchController(request, from: store.collection("note", of: Note.self))
      .performFetch()
    #expect(snapshot.numberOfItems(inSection: deep) == 0 && snapshot.indexOfSection(deep) == nil)
    #expect(snapshot.numberOfItems(inSection: "x") == 1)
  }

  @Test
  func `R76 A row whose id its own type does not read is a problem`() async throws {
    let store = EventStore.inMemory()
    try await put(store, "plate/A", ["id": "A"])
    try await put(store, "plate/b", ["id": "b"])
    let list = FetchController(ListRequest(Plate.self), from: store.collection("plate", of: Plate.self))
    let snapshot = try await list.performFetch()
    #expect(snapshot.itemIdentifiers.map(\.documentID) == ["A"])
    #expect(snapshot.problems.map(\.id) == ["b"])
  }

  @Test
  func `Ids that are no UTF-8 are problems, whether the rows are typed or not`() async throws {
    let store = EventStore.inMemory()
    let document = DocumentValue.object(["id": "x"]).cbor()
    try await put(store, bytes: Array("note/".utf8) + [0xFF], document)
    try await put(store, bytes: Array("note/".utf8) + [0xFE], document)
    try await put(store, bytes: Array("note/x".utf8), document)
    let typed = FetchController(ListRequest(Note.self), from: store.collection("note", of: Note.self))
    #expect(try await typed.performFetch().itemIdentifiers == ["x"])
    #expect(try await typed.performFetch().numberOfProblems == 2)
    let untyped = FetchController(ListRequest(DocumentRow.self), from: store.documents("note"))
    #expect(try await untyped.performFetch().itemIdentifiers == ["x"])
    #expect(try await untyped.performFetch().problems.count == 2)
  }

  @Test
  func `Ids may be long, empty, and hold zero bytes and slashes`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    let ids = [
      String(repeating: "x", count: 1_000), String(repeating: "\0", count: 1_000), "a\0", "a", "a\0b",
      "a/b/c",
      "/", "é", "e\u{301}",
    ]
    for id in ids { try await notes.put(Note(id: id, text: "same")) }
    try await put(store, "note/", ["id": ""])
    for order in [ListSectionOrder<String?>.key, .keyDescending, .first, .count, .list([nil, "same"])] {
      let list = FetchController(
        ListRequest(Note.self).sectioned(by: \.text).sectionsOrdered(by: order), from: notes)
      let snapshot = try await list.performFetch()
      #expect(snapshot.numberOfItems == ids.count + 1)
      for id in ids + [""] {
        let place = try #require(snapshot.index(of: id))
        #expect(snapshot.itemIdentifier(at: place).utf8.elementsEqual(id.utf8))
        #expect(snapshot.row(for: id)?.id.utf8.elementsEqual(id.utf8) == true)
      }
    }
  }

  @Test
  func `Values that are no keys, and keys that are too long, are problems in every order of sections`()
    async throws
  {
    let store = EventStore.inMemory()
    for (id, value) in [
      ("array", .array([1])), ("object", ["a": 1]), ("null", .null), ("text", "x"),
      ("nan", .double(.nan)), ("zero", .double(-0.0)), ("int", 0), ("bytes", .bytes([0])),
      ("big", .string(String(repeating: "\0", count: 20_000))),
      ("large", .string(String(repeating: "y", count: 40_000))),
      ("huge", .string(String(repeating: "z", count: 70_000))),
    ] as [(String, DocumentValue)] {
      try await put(store, "v/\(id)", ["id": .string(id), "value": value])
    }
    let base = ListRequest(DocumentRow.self)
    let field = try FieldPath("value")
    for request in [
      base.sectioned(byField: field), base.sectioned(byField: field).sectionsOrdered(by: .keyDescending),
      base.sectioned(byField: field).sectionsOrdered(by: .first),
      base.sectioned(byField: field).sectionsOrdered(by: .count),
      base.sectioned(byField: field).sorted(byField: field, .reverse).sectionsOrdered(by: .first),
      base.sectioned(byField: field).sectionsOrdered(by: .list([.array([1]), .null, "x", 5])),
    ] {
      let list = FetchController(request, from: store.documents("v"))
      let snapshot = try await list.performFetch()
      #expect(snapshot.contains("text") && snapshot.contains("nan") && !snapshot.contains("array"))
      // Those that are too long are shown by their beginning, and are problems too.
      #expect(snapshot.numberOfItems == 9 && snapshot.numberOfProblems == 5)
      #expect(Set(snapshot.problems.map(\.id)).isSuperset(of: ["array", "object", "huge"]))
      #expect(snapshot.sectionIdentifier(containingItem: "int") == 0)
      #expect(snapshot.sectionIdentifier(containingItem: "zero") == 0)
      for section in snapshot.sectionIdentifiers {
        #expect(!snapshot.itemIdentifiers(inSection: section).isEmpty, "\(section)")
      }
    }
    let sorted = FetchController(base.sorted(byField: field), from: store.documents("v"))
    #expect(try await sorted.performFetch().problems.map(\.id).first == "array")
  }

  @Test
  func `R16 Sections are told apart by their bytes, also where Swift calls them equal`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    try await notes.put([Note(id: "1", text: "é"), Note(id: "2", text: "e\u{301}")])
    let request = ListRequest(Note.self).sectioned(by: \.text)
    let snapshot = try await FetchController(request, from: notes).performFetch()
    #expect(snapshot.numberOfSections == 2)
    #expect(snapshot.itemIdentifiers(inSection: "é") == ["1"])
    #expect(snapshot.itemIdentifiers(inSection: "e\u{301}") == ["2"])
    #expect(snapshot.numberOfItems(inSection: "none") == 0)
    // Requests that differ only in bytes are different requests.
    let composed = request.sectionsOrdered(by: .list(["é"]))
    let decomposed = request.sectionsOrdered(by: .list(["e\u{301}"]))
    #expect(composed != decomposed)
    #expect(try await FetchController(composed, from: notes).performFetch().itemIdentifiers == ["1", "2"])
    #expect(try await FetchController(decomposed, from: notes).performFetch().itemIdentifiers == ["2", "1"])
  }

  @Test
  func `Sections of every type read back, stand in an explicit order, and are found`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    let date = Date(timeIntervalSince1970: -1.5)
    try await notes.put([
      Note(id: "1"), Note(id: "2", text: "", kind: .low, date: .distantPast, isDone: false, count: .min),
      Note(id: "3", text: "x", kind: .high, date: date, isDone: true, count: .max),
    ])
    func check<Section>(
      _ request: ListRequest<Note, Section>, _ expected: [Section], _ listed: [Section]
    ) async throws {
      let snapshot = try await FetchController(request, from: notes).performFetch()
      #expect(snapshot.sectionIdentifiers == expected)
      for (place, section) in expected.enumerated() { #expect(snapshot.indexOfSection(section) == place) }
      let list = FetchController(request.sectionsOrdered(by: .list(listed)), from: notes)
      let ordered = try await list.performFetch().sectionIdentifiers
      #expect(ordered.prefix(1) == listed.prefix(1) && Set(ordered) == Set(expected))
      let changes = try await list.changes(from: .beginning, to: .head)
      #expect(changes.sectionInsertions.map(\.section) == ordered)
    }
    let base = ListRequest(Note.self)
    try await check(base.sectioned(by: \.text), [nil, "", "x"], ["x", "x", "none", nil])
    try await check(base.sectioned(by: \.kind), [nil, .low, .high], [.high, nil])
    try await check(base.sectioned(by: \.date), [nil, .distantPast, date], [date])
    try await check(base.sectioned(by: \.isDone), [nil, false, true], [true, true, false])
    try await check(base.sectioned(by: \.count), [nil, .min, .max], [.max])
    try await check(base.sectioned(by: \.text?.count), [nil, 0, 1], [1])
  }

  @Test
  func `R44 Limits of 0 show nothing, with and without sections, and grow by one difference`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    try await notes.put((0..<5).map { Note(id: "\($0)", text: $0 < 2 ? nil : "x") })
    let plain = ListRequest(Note.self)
    let sectioned = ListRequest(Note.self).sectioned(by: \.text)
    for request in [sectioned.limited(to: 0), sectioned.limited(perSection: 0)] {
      let list = FetchController(request, from: notes)
      var updates = list.updates.makeAsyncIterator()
      let first = try #require(try await updates.next()).after
      #expect(first.numberOfItems == 0 && first.numberOfSections == 0 && first.totalNumberOfItems == 5)
      try await list.apply(sectioned)
      let changes = try #require(try await updates.next()).changes
      #expect(changes.insertions.count == 5 && changes.sectionInsertions.count == 2)
    }
    for request in [plain.limited(to: 0), plain.limited(perSection: 0)] {
      let list = FetchController(request, from: notes)
      let snapshot = try await list.performFetch()
      #expect(snapshot.numberOfItems == 0 && snapshot.numberOfSections == 1)
      #expect(snapshot.itemIdentifiers.isEmpty && snapshot.index(of: "1") == nil)
    }
  }

  @Test
  func
    `R76 At most a hundred problems are listed, by id, with their total, and none that was mended or deleted`()
    async throws
  {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    var events: [NewEvent] = []
    for number in 100..<300 {
      // No rows, and rows that do not decode, alternately.
      let payload = number % 2 == 0 ? EventPayload.opaque([0xFF]) : EventPayload(["text": 5])
      events.append(NewEvent(DocumentEvent.put, in: "note/\(number)", payload: payload))
    }
    try await store.append(events)
    let request = ListRequest(Note.self).sectioned(by: \.text).sorted(by: \.id)
    let list = FetchController(request, from: notes)
    var snapshot = try await list.performFetch()
    #expect(snapshot.numberOfProblems == 200)
    #expect(snapshot.problems.map(\.id) == (100..<200).map { "\($0)" })
    try await notes.put([Note(id: "100"), Note(id: "101")])
    try await notes.delete("102")
    try await notes.delete("103")
    try await put(store, "note/104", ["text": 5])
    try await store.append([NewEvent(DocumentEvent.put, in: "note/105", payload: .opaque([0xFF]))])
    snapshot = try await list.performFetch()
    #expect(snapshot.numberOfProblems == 196)
    #expect(snapshot.problems.map(\.id) == (104..<204).map { "\($0)" })
    #expect(snapshot.itemIdentifiers == ["100", "101"])
    // A view that is built from scratch gives the same result as one that was kept up to date.
    let fresh = try await FetchController(request, from: notes)
      .snapshot(at: .sequence(store.head.sequence))
    #expect(fresh.problems == snapshot.problems)
  }

  @Test
  func `R69 Points between appends, inside one, and in times that no log has`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    func append(_ ids: [String], at seconds: Double) async throws {
      var events: [NewEvent] = []
      for id in ids {
        events.append(
          NewEvent(DocumentEvent.put, in: "note/\(id)", payload: EventPayload(["id": .string(id)])))
      }
      try await store.append(events, time: Timestamp(Date(timeIntervalSince1970: seconds)))
    }
    try await append(["a", "b", "c"], at: 10)
    try await append(["d", "e"], at: 20)
    let list = FetchController(ListRequest(Note.self), from: notes)
    for (seconds, count) in [
      (9.0, 0), (10, 3), (19.999, 3), (20, 5), (1e300, 5), (-1e300, 0), (.infinity, 5),
    ] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(try await list.snapshot(at: .time(date)).numberOfItems == count, "\(seconds)")
    }
    for time in [Timestamp(nanoseconds: .min), Timestamp(nanoseconds: .max)] {
      _ = try await list.snapshot(at: .time(time))
    }
    let partial = try await list.snapshot(at: .sequence(2))
    #expect(partial.itemIdentifiers == ["a", "b"] && partial.sequence == 2)
    let changes = try await list.changes(from: .sequence(2), to: .sequence(4))
    #expect(changes.insertions.map(\.id) == ["c", "d"] && changes.deletions.isEmpty)
    #expect(try await list.changes(from: .sequence(4), to: .sequence(4)).isEmpty)
    #expect(try await list.changes(from: .head, to: .beginning).deletions.count == 5)
  }

  @Test
  func `Documents can be asked by a filter, at the head and in the past`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    try await notes.put([Note(id: "1", text: "x"), Note(id: "2", text: "y"), Note(id: "3")])
    try await notes.delete("1")
    // A row that does not pass the filter need not decode.
    try await put(store, "note/bad", ["text": 5])
    #expect(try await notes.all(where: "text != null && text != 5").map(\.id) == ["2"])
    #expect(try await notes.all(where: "$id in {'1', '3'}", at: .sequence(3)).map(\.id) == ["1", "3"])
    await #expect(throws: ListError.self) { try await notes.all(where: "text ==") }
    await #expect(throws: ListError.self) { try await notes.all(where: "$id == 'bad'") }
  }

  @Test
  func `Equal requests over two tables, two types or two projections are lists of their own`() async throws {
    struct Other: Codable, Identifiable, Sendable { var id: String }
    let store = EventStore.inMemory()
    let (a, b) = (store.collection("a", of: Note.self), store.collection("b", of: Note.self))
    try await a.put([Note(id: "1", isDone: true), Note(id: "2", isDone: false)])
    try await b.put([Note(id: "3", isDone: true)])
    let request = ListRequest(Note.self).filtered(id: "open") { $0.isDone == true }
    let other = ListRequest(Other.self).filtered(id: "open") { _ in true }
    let first = FetchController(request, from: a)
    #expect(try await first.performFetch().itemIdentifiers == ["1"])
    #expect(try await FetchController(request, from: b).performFetch().itemIdentifiers == ["3"])
    let others = FetchController(other, from: store.collection("a", of: Other.self))
    #expect(try await others.performFetch().itemIdentifiers == ["1", "2"])
    // Two controllers of one request share a view, which is released when both are.
    let second = FetchController(request, from: a)
    try await second.performFetch()
    #expect(store.projector(.documents(only: nil)).published["a"].views.count == 2)
    first.cancel()
    others.cancel()
    try await a.put(Note(id: "9", isDone: true))
    #expect(try await second.performFetch().itemIdentifiers == ["1", "9"])
    #expect(store.projector(.documents(only: nil)).published["a"].views.count == 1)
  }
}
