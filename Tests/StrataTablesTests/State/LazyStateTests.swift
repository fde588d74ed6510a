// Stores that are opened again and again, whose states are read page by page, compared with folds of the log.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct LazyStateTests {
  @Test
  func
    `fault 60: However a store is closed, opened and damaged, its tables and kept lists are those of its log`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (faults, pages, written) = (0, 0, 0)
    let runs = StateRuns(250)
    while runs.next() {
      let disk = MemoryFileSystem()
      var options = Self.options()
      options.savedFoldingMin = Bool.random(using: &random) ? .zero : .seconds(60)
      for _ in 0..<Int.random(in: 2...5, using: &random) {
        let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
        let projector = store.projector(.documents(only: nil))
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          if Int.random(in: 0..<3, using: &random) == 0 { try Self.damage(disk, &random) }
          if Bool.random(using: &random) {
            try Self.append(store, Int.random(in: 1...400, using: &random), &random)
          }
          let wantsList = Bool.random(using: &random)
          let lease = wantsList ? projector.lease(Self.list, of: "row") : nil
          let head = store.head.sequence
          var set = try await projector.state(reaching: head)
          if let lease { set = try await projector.state(reaching: head, with: lease) }
          try Self.compare(set, store)
          if Bool.random(using: &random) {
            written += try await store.checkpoint().map(\.pageCount).reduce(0, +)
          }
        }
        faults += projector.checkpoints?.faults.count ?? 0
        pages += projector.checkpoints?.loaded.pages ?? 0
        try await store.close()
      }
    }
    #expect(faults > 0 && pages > 0 && written > 0)
  }

  @Test func `An open reads roots, and a lookup reads one page a level`() async throws {
    let disk = MemoryFileSystem()
    try await Self.saveLarge(disk)
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
    let projector = store.projector(.documents(only: nil))
    let set = try await projector.state(reaching: store.head.sequence)
    let checkpoints = try #require(projector.checkpoints)
    #expect(set["row"].count == 3_000 && checkpoints.loaded.pages == 0)
    "row 77".withUTF8Bytes { id in set["row"].withRow(id) { #expect($0 != nil) } }
    #expect((1...3).contains(checkpoints.loaded.pages))
    let lease = projector.lease(Self.list, of: "row")
    let with = try await projector.state(reaching: store.head.sequence, with: lease)
    let view = try #require(with["row"].view(Self.list.identity))
    #expect(view.count == 3_000 && view.sectionCount == 10)
    #expect(checkpoints.loaded.pages < 10)
    try Self.compare(with, store)
    #expect(checkpoints.loaded.pages > 100 && checkpoints.faults == StateFaults())
    try await store.close()
  }

  @Test func `A damaged page is made anew from the log, and the next checkpoint writes another file`()
    async throws
  {
    let disk = MemoryFileSystem()
    try await Self.saveLarge(disk)
    var store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
    var projector = store.projector(.documents(only: nil))
    let lease = projector.lease(Self.list, of: "row")
    let set = try await projector.state(reaching: store.head.sequence, with: lease)
    try Self.overwriteAll(disk)
    try Self.compare(set, store)
    var checkpoints = try #require(projector.checkpoints)
    #expect(checkpoints.faults.count > 1 && checkpoints.isDamaged)
    #expect(checkpoints.faults.last?.contains(".pages at offset") == true)
    let written = try await store.checkpoint()
    #expect(written.first.map { $0.pageCount > 100 } == true)
    #expect(!checkpoints.isDamaged)
    try await store.close()

    store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
    projector = store.projector(.documents(only: nil))
    checkpoints = try #require(projector.checkpoints)
    let later = try await projector.state(
      reaching: store.head.sequence, with: projector.lease(Self.list, of: "row"))
    #expect(checkpoints.savedSequence == store.head.sequence)
    try Self.compare(later, store)
    #expect(checkpoints.faults.count == 0 && checkpoints.loaded.pages > 100)
    try await store.close()
  }

  @Test func `Page files stay in proportion to what is alive in them, while few pages are ever read`()
    async throws
  {
    let disk = MemoryFileSystem()
    try await Self.saveLarge(disk)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (last, largest, shrinkCount): (UInt64, UInt64, Int) = (0, 0, 0)
    for round in 0..<24 {
      let store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
      let projector = store.projector(.documents(only: nil))
      let checkpoints = try #require(projector.checkpoints)
      for _ in 0..<3 {
        try Self.append(store, 300, &random)
        _ = try await projector.state(reaching: store.head.sequence)
        try await store.checkpoint()
        let saved = checkpoints.state.withLock { $0.trees }
        for table in projector.published.tables {
          let rows = try #require(saved[SavedTrees.Key(table.name, .rows)])
          #expect(try rows.usage == PageUsage(all: rows.tree), "what is alive is counted wrongly")
        }
        let length = try Self.pageFiles(disk).reduce(UInt64(0)) { sum, name in
          let file = try disk.open("\(Self.folder)/\(name)", .read)
          defer { file.close() }
          return sum + UInt64(try file.size())
        }
        if length < last { shrinkCount += 1 }
        (last, largest) = (length, max(largest, length))
      }
      if round % 8 == 0 { try Self.compare(projector.published, store) }
      try await store.close()
    }
    #expect(largest < 3 << 20, "\(largest) bytes")
    // Some checkpoint gave files up.
    #expect(shrinkCount > 0)
  }

  @Test
  func `fault 104: A list over two tables is made again for each from its own, where the disk lost both`()
    async throws
  {
    let disk = MemoryFileSystem()
    for isFirst in [true, false] {
      let store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
      if isFirst {
        try store.appendBlocking(
          (0..<3_000).map { number in
            let length = number % 2 == 0 ? number % 50 : number / 2 % 70
            let document: DocumentValue = ["text": .string(String(repeating: "x", count: 100 + length))]
            let table = number % 2 == 0 ? "row" : "other"
            return NewEvent(
              DocumentEvent.put, in: "\(table)/row \(number / 2)", payload: EventPayload(document))
          })
      }
      let projector = store.projector(.documents(only: nil))
      let leases = ["row", "other"].map { projector.lease(Self.list, of: $0) }
      var sets: [TableSet] = []
      for lease in leases {
        sets.append(try await projector.state(reaching: store.head.sequence, with: lease))
      }
      if !isFirst { try Self.overwriteAll(disk) }
      for set in sets { try Self.compare(set, store) }
      try await store.checkpoint()
      withExtendedLifetime(leases) {}
      #expect(isFirst || projector.checkpoints?.faults.count ?? 0 > 0)
      try await store.close()
    }
  }

  @Test func `A state that is held when its store is closed is read and made anew as before`() async throws {
    let disk = MemoryFileSystem()
    try await Self.saveLarge(disk)
    let expected: UInt64
    let held: TableSet
    do {
      let store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
      held = try await store.projector(.documents(only: nil)).state(reaching: store.head.sequence)
      let fold = Fold(store.log, .documents(only: nil))
      try fold.run(through: .max)
      expected = fold.state.stateHash
      try await store.close()
    }
    // Nothing but the state remains of the store, and its lock is free.
    try Self.overwriteAll(disk)
    let other = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
    #expect(held.stateHash == expected)
    try await other.close()
  }

  @Test func `An erasure takes nothing from a state that somebody holds`() async throws {
    let disk = MemoryFileSystem()
    try await Self.saveLarge(disk)
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
    let projector = store.projector(.documents(only: nil))
    let held = try await projector.state(reaching: store.head.sequence)
    _ = try await store.erase(Erasure(streams: ["row/row 12"], because: "asked to"))
    let now = try await projector.state(reaching: store.head.sequence)
    #expect(now["row"].count == 2_999 && held["row"].count == 3_000)
    "row 12".withUTF8Bytes { id in
      held["row"].withRow(id) { #expect($0 != nil) }
      now["row"].withRow(id) { #expect($0 == nil) }
    }
    try await store.close()
  }
}

extension LazyStateTests {
  static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return options
  }

  /// Rows in up to ten sections by the last byte of their id, and in each by the length of their document.
  static let list = ViewDefinition(
    identity: ViewIdentity("by byte"), sectionOrder: .key, calls: .none,
    kept: KeptView(name: "by byte", identity: "by byte", program: nil)
  ) { (row, writer) throws(RowProblem) in
    guard let last = row.id.last else { return nil }
    writer.append(Int(last))
    let section = writer.count
    writer.append(row.document.count)
    return PlacedLengths(section: section)
  }

  static func append(_ store: EventStore, _ count: Int, _ random: inout SeededGenerator) throws {
    var events: [NewEvent] = []
    for _ in 0..<count {
      let number = Int.random(in: 0..<600, using: &random)
      let stream = StreamName(category: number % 11 == 0 ? "other" : "row", id: "row \(number)")
      if Int.random(in: 0..<5, using: &random) == 0 {
        events.append(NewEvent(DocumentEvent.delete, in: stream, payload: EventPayload(.null)))
      } else {
        let text = String(repeating: "x", count: Int.random(in: 0...40, using: &random))
        let document: DocumentValue = [
          "text": .string(text), "n": .int(Int64.random(in: 0...90, using: &random)),
        ]
        events.append(NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(document)))
      }
    }
    try store.appendBlocking(events)
  }

  static func saveLarge(_ disk: MemoryFileSystem) async throws {
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options())
    try store.appendBlocking(
      (0..<3_000).map { number in
        let document: DocumentValue = [
          "text": .string(String(repeating: "x", count: 100 + number % 50)), "n": .int(Int64(number % 20)),
        ]
        return NewEvent(DocumentEvent.put, in: "row/row \(number)", payload: EventPayload(document))
      })
    let projector = store.projector(.documents(only: nil))
    let lease = projector.lease(list, of: "row")
    _ = try await projector.state(reaching: store.head.sequence, with: lease)
    try await store.checkpoint()
    withExtendedLifetime(lease) {}
    try await store.close()
  }

  private static let folder = "/store/derived/state/$documents-1"

  private static func pageFiles(_ disk: MemoryFileSystem) throws -> [String] {
    guard try disk.kind(of: folder) == .directory else { return [] }
    return try disk.contents(ofDirectory: folder).filter { StoreLayout.pageFileNumber($0) != nil }
  }

  /// A page file, or nil where a write in the background removed it after it was listed.
  private static func openIfPresent(_ name: String, _ disk: MemoryFileSystem) throws -> (any File)? {
    do throws(StoreError) {
      return try disk.open("\(folder)/\(name)", .readWrite)
    } catch {
      guard error.systemCode == SystemErrorCode.notFound else { throw error }
      return nil
    }
  }

  /// Changes some bytes of the page files.
  static func damage(_ disk: MemoryFileSystem, _ random: inout SeededGenerator) throws {
    for name in try pageFiles(disk) where Bool.random(using: &random) {
      guard let file = try openIfPresent(name, disk) else { continue }
      defer { file.close() }
      let size = Int(try file.size())
      guard size > 64 else { continue }
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let byte = [UInt8.random(in: 0...255, using: &random)]
        let offset = Int64(Int.random(in: 64..<size, using: &random))
        try byte.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
      }
    }
  }

  static func overwriteAll(_ disk: MemoryFileSystem) throws {
    for name in try pageFiles(disk) {
      guard let file = try openIfPresent(name, disk), try file.size() > 64 else { continue }
      defer { file.close() }
      let zeros = [UInt8](repeating: 0, count: Int(try file.size()) - 64)
      try zeros.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 64) }
    }
  }

  /// A state is that of its log, and so are the lists over it.
  static func compare(_ set: TableSet, _ store: EventStore) throws {
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: set.sequence)
    #expect(set.stateHash == fold.state.stateHash)
    for table in set.tables {
      #expect(table.checkInvariants() == nil)
      for view in table.views {
        let built = View(view.definition, of: fold.state[table.name])
        for kind in ViewTrees.Kind.allCases {
          #expect(view.trees[kind]?.model == built.trees[kind]?.model, "\(kind) of \(table.name)")
        }
      }
    }
  }
}

extension String {
  fileprivate func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(utf8).withUnsafeBytes(body)
  }
}
