// One random history of a store in several processes, some of which show kept lists.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting

/// Two random requests, kept under one name or two, and several processes. Each shows one of them, both or none, and
/// changes rows before, between and after. What a kept list shows is always what the same request shows that is not kept.
struct KeptHistory {
  struct Counts: CustomStringConvertible {
    /// Lists that were saved by an earlier process and used.
    var adopted = 0
    /// Such lists that rows had changed behind.
    var caughtUp = 0
    /// Lists whose name an earlier process had given to another list.
    var replaced = 0
    var typed = 0
    var lists = 0

    var description: String {
      "\(lists) lists: \(adopted) adopted, \(caughtUp) of them caught up, \(replaced) replaced, \(typed) typed"
    }

    mutating func add(_ other: Counts) {
      adopted += other.adopted
      caughtUp += other.caughtUp
      replaced += other.replaced
      typed += other.typed
      lists += other.lists
    }
  }

  private var random: SeededGenerator
  private let schema: RandomSchema
  private let requests: [(name: String, request: ModelRequest)]
  private let disk = SimulatedDisk()
  private var rows: [String: DocumentObject] = [:]
  private(set) var counts = Counts()
  /// The state that the process found, and the lists in it that it has not shown yet.
  private var found = TableSet()
  private var waiting: [String: ViewOnDisk] = [:]

  init(_ random: inout SeededGenerator) {
    self.random = random.split()
    schema = RandomSchema(&self.random)
    let names = Bool.random(using: &self.random) ? ["a", "a"] : ["a", "b"]
    var requests: [(String, ModelRequest)] = []
    for name in names { requests.append((name, schema.request(&self.random))) }
    self.requests = requests
  }

  private func chance(_ sides: Int, _ random: inout SeededGenerator) -> Bool {
    Int.random(in: 0..<sides, using: &random) == 0
  }

  mutating func run() async throws {
    for _ in 0..<Int.random(in: 2...5, using: &random) { try await runProcess() }
  }

  private mutating func runProcess() async throws {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.savedFoldingMin = .zero
    // Nothing is saved in the background, so what is on disk was there before.
    options.writesInStep = true
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    found = Fold.resuming(store.log, .documents(only: nil)).state
    waiting = [:]
    for case let view as ViewOnDisk in found["t"].savedViews { waiting[view.kept.name] = view }
    try await change(store)
    for (name, request) in requests where !chance(3, &random) {
      if request.isTyped {
        try await show(
          request.typedRequest, as: name, store.collection("t", of: TypedRow.self), in: store)
      } else {
        try await show(request.request, as: name, store.documents("t"), in: store)
      }
      try await change(store)
      if chance(4, &random) { _ = try await store.checkpoint() }
    }
    try await store.close()
  }

  private mutating func change(_ store: EventStore) async throws {
    guard !chance(3, &random) else { return }
    var events: [NewEvent] = []
    for _ in 0..<Int.random(in: 1...12, using: &random) {
      guard let id = schema.ids.randomElement(using: &random), !id.isEmpty else { continue }
      let stream = StreamName(category: "t", id: id)
      if chance(5, &random) {
        rows[id] = nil
        events.append(NewEvent(DocumentEvent.delete, in: stream, .null))
      } else {
        let document = schema.document(id, from: rows[id], &random)
        rows[id] = document
        events.append(NewEvent(DocumentEvent.put, in: stream, .object(document)))
      }
    }
    if !events.isEmpty { try await store.append(events) }
  }

  private mutating func show<Item, Section>(
    _ request: ListRequest<Item, Section>, as name: String, _ table: some RowSource<Item>,
    in store: EventStore
  ) async throws {
    let kept = request.kept(as: name)
    let shown = try await FetchController(kept, from: table).performFetch()
    let built = try await FetchController(request, from: table).performFetch()
    let texts = [shown, built].map { Self.text($0, isSectioned: request.section != nil) }
    try ListFailure.unless(texts[0] == texts[1], "the kept list is another one\n\(texts[0])\n\(texts[1])")
    counts.lists += 1
    if Item.self == TypedRow.self { counts.typed += 1 }
    let views = store.projector(.documents(only: nil)).published["t"].views
    guard let saved = waiting.removeValue(forKey: name),
      let view = views.last(where: { $0.definition.kept?.name == name })
    else { return }
    guard view.definition.kept == saved.kept else {
      counts.replaced += 1
      return
    }
    counts.adopted += 1
    // A process that did not show the list left it as it was before its changes.
    if store.log.mark.sequence > saved.sequence {
      counts.caughtUp += 1
    } else {
      try ListFailure.unless(view.isOnDisk, "the saved list was not used")
    }
  }

  private static func text<Item, Section>(
    _ snapshot: ListSnapshot<Item, Section>, isSectioned: Bool
  ) -> String {
    var lines: [String] = ["\(snapshot.numberOfItems)"]
    for place in 0..<snapshot.numberOfSections {
      let items = snapshot.itemIdentifiers(inSectionAt: place).map { "\($0)" }
      // A list without sections has a section whose key is none.
      let section = isSectioned ? "\(snapshot.sectionIdentifier(at: place))" : "-"
      lines.append("\(section): \(items)")
    }
    for problem in snapshot.problems { lines.append("\(problem)") }
    return lines.joined(separator: "\n")
  }
}
