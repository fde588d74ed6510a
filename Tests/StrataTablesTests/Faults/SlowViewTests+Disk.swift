// Views beside their folds, and what is not their fault: the time of a disk, a save that fails, a fold that is given up.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

extension SlowViewTests {
  /// The rows by their ids, from code that says for which rows it was called.
  private static func noting(
    _ name: String, kept: Bool = true, _ note: @escaping @Sendable (String) -> Void
  ) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity(name), sectionOrder: .key, calls: .filters,
      kept: kept ? KeptView(name: name, identity: name, fingerprint: 1) : nil
    ) { row, writer in
      note(row.idText)
      writer.append(row.document.count % 3)
      let section = writer.count
      writer.append(row.idText)
      return PlacedLengths(section: section)
    }
  }

  /// A store of which no page stays in memory that is on its disk.
  private func paged(
    _ disk: SimulatedDisk, _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> EventStore {
    var options = StateStore.options()
    options.writesInStep = false
    options.machine = StoreMachine(threads: .system)
    options.pageCacheSize = 0
    change(&options)
    return try StateStore.open(disk, options: options)
  }

  private func putMany(_ ids: Range<Int>, _ store: EventStore, title: String = "t") throws {
    try store.appendBlocking(
      ids.map { NewEvent(DocumentEvent.put, in: StreamName("page/\($0)"), ["title": .string(title)]) })
  }

  private static func isRead(_ call: SimulatedCall) -> Bool {
    call.operation == .read && call.path.hasPrefix(StateStore.layout.states)
  }

  private func isInFold(_ lease: ViewLease, _ projector: Projector) -> Bool {
    projector.state.withLock { $0.folded.tables[lease.table].view(lease.definition.identity) != nil }
  }

  // MARK: The time of a disk

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a page that takes long to be read is not taken for a list's code`() async throws {
    let disk = SimulatedDisk()
    let store = try paged(disk)
    try putMany(0..<600, store)
    let projector = store.projector(StateStore.documents)
    let called = Lock(false)
    let list = Self.noting("list") { id in if id == "stuck" { called.withLock { $0 = true } } }
    let lease = projector.lease(list, of: "page")
    try await join(lease, projector, store)
    try store.checkpointBlocking()
    let reads = Barrier("page")
    disk.onOperation { call in
      // Once the code was called for the row, what the thread reads are the view's pages.
      if Self.isRead(call), called.withLock({ $0 }) { reads.pass("page") }
      return .proceed
    }
    try put("stuck", store)
    let head = store.head.sequence
    let waiting = Task { try await projector.state(reaching: head, with: lease) }
    await reads.arrival()
    for _ in 0..<5 { #expect(projector.look()) }
    #expect(projector.state.withLock { $0.watched.givenUpCount } == 0 && isInFold(lease, projector))
    reads.open()
    try await check(waiting.value, lease)
    #expect(isInFold(lease, projector))
    disk.onOperation(nil)
    try store.closeBlocking()
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a slow disk makes no list slow that catches up beside the fold`() async throws {
    let disk = SimulatedDisk()
    let store = try paged(disk)
    try putMany(0..<600, store)
    let projector = store.projector(StateStore.documents)
    let lease = projector.lease(Self.noting("list") { _ in }, of: "page")
    try await join(lease, projector, store)
    try store.checkpointBlocking()
    let folded = projector.state.withLock { $0.folded }
    let table = folded.tables["page"]
    var options = store.log.options
    options.viewBudget = .milliseconds(50)
    let follower = ViewFollower(table.views[0], of: table.rows, in: "page", head: folded.head, options)
    try putMany(100..<103, store, title: "changed")
    let now = try await projector.state(reaching: store.head.sequence)
    let readCount = Lock(0)
    disk.onOperation { call in
      guard Self.isRead(call) else { return .proceed }
      readCount.withLock { $0 += 1 }
      pauseThread(nanoseconds: 60_000_000)
      return .proceed
    }
    while !follower.step(to: now) {}
    disk.onOperation(nil)
    #expect(readCount.withLock { $0 } >= 3 && follower.slowCount == 0)
    #expect(follower.view.map(items) == now["page"].view(lease.definition.identity).map(items))
    try store.closeBlocking()
  }

  // MARK: What a view beside the fold holds

  @Test(.timeLimit(.minutes(3)))
  func `A kept list beside the fold that nobody shows holds no state of all tables`() async throws {
    let store = store { $0.viewBudget = .zero }
    for id in 0..<5 { try put("\(id)", store) }
    let projector = store.projector(.documents(only: nil))
    func held() -> Int { projector.state.withLock { $0.followers.values.count { $0.set != nil } } }
    do {
      let lease = projector.lease(Self.noting("kept") { _ in }, of: "page")
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
      for id in 5..<12 { try put("\(id)", store) }
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
      #expect(projector.state.withLock { $0.followers.values.map(\.isSlow) } == [true])
      withExtendedLifetime(lease) { #expect(held() == 1) }
    }
    #expect(projector.state.withLock { $0.followers.count } == 1 && held() == 0)
    try put("12", store)
    _ = try await projector.state(reaching: store.head.sequence)
    while projector.state.withLock({ $0.followers.values.contains(where: \.isRunning) }) {
      await Task.yield()
    }
    #expect(held() == 0)
    // It answers all the same: from a state of its own, or from the newest one if that has the list by now.
    let lease = projector.lease(Self.noting("kept") { _ in }, of: "page")
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try store.closeBlocking()
  }

  // MARK: Saves

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a checkpoint lets go of a list whose code takes long for all rows together`() async throws
  {
    let disk = SimulatedDisk()
    // Nothing looks at the fold, whose thread may have to wait for a processor.
    let starter = ThreadStarter { (name, body) throws(FileSystemError) in
      guard name != "strata-watch" else {
        throw FileSystemError("start thread", name, code: SystemErrorCode.inputOutput)
      }
      return try DedicatedThread(name: name, body)
    }
    let store = try paged(disk) { options in
      options.closeFoldingMax = .milliseconds(20)
      options.machine = StoreMachine(threads: starter)
    }
    try putMany(0..<4, store)
    let projector = store.projector(StateStore.documents)
    let takes = Lock(false)
    let list = Self.noting("kept") { _ in
      if takes.withLock({ $0 }) { pauseThread(nanoseconds: 1_000_000) }
    }
    let lease = projector.lease(list, of: "page")
    let prompt = projector.lease(Self.definition("prompt", calls: .none), of: "page")
    for lease in [lease, prompt] { try await join(lease, projector, store) }
    takes.withLock { $0 = true }
    try putMany(100..<300, store)
    let head = store.head.sequence
    #expect(try store.checkpointBlocking().map(\.sequence) == [head])
    #expect(!isInFold(lease, projector) && isInFold(prompt, projector))
    // It goes on although nobody waits, so that it is saved too.
    while projector.state.withLock({ $0.followers.values.contains { ($0.built ?? 0) < head } }) {
      await Task.yield()
    }
    takes.withLock { $0 = false }
    try await check(projector.state(reaching: head, with: lease), lease)
    try expectSaved(["kept"], store, disk)
  }

  @Test(.timeLimit(.minutes(3)))
  func `A saved list beside the fold is forgotten only once it is written again`() async throws {
    let disk = SimulatedDisk()
    var (store, _) = try await held(disk, Barrier())
    try store.closeBlocking()
    store = try paged(disk) { $0.viewBudget = .zero }
    disk.onOperation { call in
      let isWritten = call.operation == .write && call.path.hasPrefix(StateStore.layout.states)
      return isWritten ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    try putMany(30..<40, store)
    let projector = store.projector(StateStore.documents)
    do {
      let lease = projector.lease(Self.definition("kept", kept: true), of: "page")
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
      #expect(projector.state.withLock { $0.followers.values.map(\.isSlow) } == [true])
    }
    #expect(throws: StoreError.self) { try store.checkpointBlocking() }
    disk.onOperation(nil)
    try put("last", store)
    try expectSaved(["kept"], store, disk)
  }

  @Test(.timeLimit(.minutes(3)))
  func `What a fold that is given up had folded still counts as not on disk`() async throws {
    let store = store { options in
      options.viewBudget = .seconds(3_600)
      options.savedFoldingMin = .seconds(3_600)
    }
    for id in 0..<30 { try put("\(id)", store, title: String(repeating: "\(id)", count: 500)) }
    let projector = store.projector(.documents(only: nil))
    let barrier = Barrier("stuck")
    let lease = projector.lease(Self.definition("slow", barrier), of: "page")
    try await join(lease, projector, store)
    let before = projector.exclusive.work.bytes
    try put("stuck", store)
    let table = try await projector.state(reaching: store.head.sequence)["page"]
    #expect(Array("stuck".utf8).withUnsafeBytes { table.withRow($0) { $0 != nil } })
    projector.state.wait { !$0.isFolding }
    #expect(projector.state.withLock { $0.watched.givenUpCount } > 0)
    #expect(before > 1_000 && projector.exclusive.work.bytes >= before)
    barrier.open()
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try store.closeBlocking()
  }

  // MARK: Reads of trees

  private final class Probe {}

  /// Whether this thread is at no read of a tree: what is dropped now is then freed soon.
  private static func isOutsideOfReads() -> Bool {
    let probe = Unmanaged<AnyObject>.passRetained(Probe())
    weak let known = probe.takeUnretainedValue()
    PageCache.retire([probe])
    return PageReads.comesTrue {
      PageCache.releaseMoved()
      return known == nil
    }
  }

  @Test func `The program's code is called outside of every read of a tree`() throws {
    // Reads are counted from then on.
    let cache = PageCache(limit: 0)
    defer { withExtendedLifetime(cache) {} }
    let store = store()
    try putMany(0..<20, store)
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: store.head.sequence)
    let old = fold.state["page"]
    // By a comparison of sections, and by keys while a saved list catches up.
    let found = Lock((compared: [Bool](), placed: [Bool]()))
    let compared = ViewDefinition(
      identity: ViewIdentity("compared"),
      sectionOrder: .compared { a, b in
        if found.withLock({ $0.compared.isEmpty }) {
          let isOutside = Self.isOutsideOfReads()
          found.withLock { $0.compared.append(isOutside) }
        }
        return a.order(b) > 0
      }, calls: .none
    ) { row, writer in
      writer.append(row.idText)
      return PlacedLengths(section: writer.count)
    }
    let sections = View(compared, of: old)
    #expect(sections.sections.count == 20 && sections.checkInvariants() == nil)
    let follows = Lock(false)
    let noted = Self.noting("noted") { _ in
      guard follows.withLock({ $0 }), found.withLock({ $0.placed.isEmpty }) else { return }
      let isOutside = Self.isOutsideOfReads()
      found.withLock { $0.placed.append(isOutside) }
    }
    var view = View(noted, of: old)
    follows.withLock { $0 = true }
    try putMany(10..<30, store, title: "changed")
    try fold.run(through: store.head.sequence)
    view.catchUp(from: old.rows, to: fold.state["page"].rows)
    #expect(items(view) == items(View(noted, of: fold.state["page"])))
    #expect(found.withLock { $0.compared } == [true] && found.withLock { $0.placed } == [true])
    try store.closeBlocking()
  }

  // MARK: The watch

  @Test(.timeLimit(.minutes(3)))
  func `A watch that gets no thread keeps what others have it look at`() {
    struct Looks {
      var watch: Watch?
      var (first, second, third) = (0, 0, 0)
    }
    let looks = Gate(Looks())
    let starter = ThreadStarter { (name, body) throws(FileSystemError) in
      let isFirst = looks.withLock { $0.second == 0 && $0.first == 0 }
      guard isFirst else { return try DedicatedThread(name: name, body) }
      looks.withLock { $0.first = 1 }
      // Another fold asks for a look while there is to be a thread.
      let watch = looks.withLock { $0.watch }
      let begins = watch?.begin {
        looks.withLock { $0.second += 1 }
        looks.signalAll()
        return false
      }
      #expect(begins == true)
      throw FileSystemError("start thread", name, code: SystemErrorCode.tooManyOpenFiles)
    }
    let watch = Watch(starter: starter)
    looks.withLock { $0.watch = watch }
    let isFirstBegun = watch.begin {
      looks.withLock { $0.first += 1 }
      return true
    }
    let isThirdBegun = watch.begin {
      looks.withLock { $0.third += 1 }
      looks.signalAll()
      return false
    }
    #expect(!isFirstBegun && isThirdBegun)
    looks.wait { $0.second == 1 && $0.third == 1 }
    #expect(looks.withLock { $0.first } == 1)
    looks.withLock { $0.watch = nil }
  }
}
