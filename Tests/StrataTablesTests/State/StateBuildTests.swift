// States that another build of the program saved: used at once, compared, and replaced where this build makes others.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A projection whose code can be changed while its version stays.
private struct ChangingTally: Projection {
  static let name = "changing"
  static let version = 1
  static let code = Lock(1)
  static let rows = TableKey<TallyProjection.Row>("tally")
  /// Events up to this sequence are not applied for now.
  static let held = Gate<UInt64>(0)

  static func hold(through sequence: UInt64) {
    held.withLock { $0 = sequence }
    held.signalAll()
  }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    Self.held.wait(until: { $0 < event.sequence })
    let code = Self.code.withLock { $0 }
    let id = event.stream.id
    let row = TallyProjection.Row(
      id: id, count: (tables[Self.rows, id]?.count ?? 0) + code, text: event.type)
    // Another number of rows, too.
    tables[Self.rows, id] = code > 1 && id.hasSuffix("3") ? nil : row
  }
}

@Suite(.serialized) struct StateBuildTests {
  private static let folding = Folding.own(ChangingTally())

  /// Held events keep no thread from other tests.
  private static let machine = StoreMachine(threads: .system)

  private func options() -> StoreOptions {
    var options = StateStore.options()
    options.machine = Self.machine
    options.usesStatesOfOtherBuilds = true
    return options
  }

  /// Makes the state on disk one of another build.
  private func forge(_ disk: SimulatedDisk) throws {
    let path = StateStore.stateFile(Self.folding)
    var bytes = try #require(disk.contents(path))
    for offset in StateSlot.offsets where offset + StateSlot.length <= bytes.count {
      let range = offset..<offset + StateSlot.length
      guard var slot = bytes[range].withUnsafeBytes({ StateSlot(decoding: $0) }) else { continue }
      slot.build = try #require(ownBuild) ^ 1
      bytes.replaceSubrange(range, with: slot.encoded())
    }
    disk.replace(path, bytes)
  }

  private func savedBuild(_ disk: SimulatedDisk) throws -> UInt64? {
    let bytes = try #require(disk.contents(StateStore.stateFile(Self.folding)))
    let slots = StateSlot.offsets.compactMap { offset in
      offset + StateSlot.length > bytes.count
        ? nil
        : bytes[offset..<offset + StateSlot.length].withUnsafeBytes { StateSlot(decoding: $0) }
    }
    return slots.max { $0.generation < $1.generation }?.build
  }

  private var ownBuild: UInt64? { StateFingerprint(Self.folding)?.build }

  /// A closed store with a state of the projection's first code, said to be of another build.
  ///
  /// - Parameter last: the number of events of its last append.
  private func disk(_ seed: UInt64 = 5, last: Int = 0) throws -> SimulatedDisk {
    ChangingTally.code.withLock { $0 = 1 }
    let disk = SimulatedDisk()
    var events = StateEvents(seed: seed)
    let store = try StateStore.open(disk, options: options())
    _ = store.projector(Self.folding)
    for _ in 0..<20 { try events.append(to: store) }
    let large = (0..<last).map { NewEvent("note", in: "page/\($0 % 9)", .int(Int64($0))) }
    if last > 0 { try store.appendBlocking(large) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    #expect(try savedBuild(disk) == ownBuild)
    try forge(disk)
    return disk
  }

  /// Waits until the comparison has ended and what it found is published.
  private func settle(_ projector: Projector) {
    projector.state.wait(until: { !$0.isFolding && $0.origin.confirmation == nil })
  }

  private func status(_ store: EventStore) throws -> ProjectionStatus {
    try #require(store.projections.first { $0.name == ChangingTally.name })
  }

  @Test(arguments: [EventStore.Access.readWrite, .readOnly])
  func `a state of another build is used at once, and is this build's once it was folded again`(
    _ access: EventStore.Access
  ) async throws {
    let disk = try disk()
    let store = try StateStore.open(disk, access, options: options())
    let projector = store.projector(Self.folding)
    ChangingTally.hold(through: store.head.sequence)
    #expect(try await projector.state(reaching: .max).sequence == store.head.sequence)
    #expect(projector.otherBuild != nil)
    #expect(try status(store).isBeingCompared)
    ChangingTally.hold(through: 0)
    settle(projector)
    #expect(projector.otherBuild == nil)
    #expect(try await store.difference(of: Self.folding) == nil)
    #expect(try !status(store).isVersionNotRaised && !status(store).isBeingCompared)
    try store.closeBlocking()
    guard access == .readWrite else { return }
    #expect(try savedBuild(disk) == ownBuild)
    let next = try StateStore.open(disk, options: options())
    #expect(next.projector(Self.folding).currentFold().state.sequence == next.head.sequence)
    #expect(next.projector(Self.folding).otherBuild == nil)
    try next.closeBlocking()
  }

  @Test
  func `fault 118: the comparison with another build decodes each event once, however often it stops`()
    async throws
  {
    let disk = try disk(last: 400)
    let crowd = CrowdedThreads()
    var options = options()
    options.machine.folds = crowd.threads
    let store = try StateStore.open(disk, options: options)
    let projector = store.projector(Self.folding)
    let turns = crowd.turnCount
    _ = try await projector.state(reaching: .max)
    settle(projector)
    #expect(projector.otherBuild == nil)
    #expect(crowd.turnCount - turns >= 400, "it was not stopped after each event")
    #expect(store.log.foldedEvents.count <= 2 * store.head.sequence)
    try store.closeBlocking()
  }

  @Test(arguments: [EventStore.Access.readWrite, .readOnly])
  func `where this build makes other tables, they take over, and the version is said not to be raised`(
    _ access: EventStore.Access
  ) async throws {
    let disk = try disk()
    ChangingTally.code.withLock { $0 = 2 }
    let store = try StateStore.open(disk, access, options: options())
    let projector = store.projector(Self.folding)
    ChangingTally.hold(through: store.head.sequence)
    let old = try await projector.state(reaching: .max)
    ChangingTally.hold(through: 0)
    settle(projector)
    let new = try await projector.state(reaching: .max)
    #expect(try status(store).isVersionNotRaised)
    #expect(try await store.difference(of: Self.folding) == nil)
    #expect(old.sequence == new.sequence && !old.hasSameContent(as: new))
    // What somebody held stays what it was.
    #expect(old["tally"].rows.checkInvariants() == nil)
    if access == .readWrite {
      var events = StateEvents(seed: 8)
      for _ in 0..<5 { try events.append(to: store) }
      #expect(try await store.difference(of: Self.folding) == nil)
    }
    try store.closeBlocking()
    guard access == .readWrite else { return }
    #expect(try savedBuild(disk) == ownBuild)
    let next = try StateStore.open(disk, options: options())
    #expect(next.projector(Self.folding).currentFold().state.sequence == next.head.sequence)
    #expect(try await next.difference(of: Self.folding) == nil)
    #expect(try !status(next).isVersionNotRaised)
    try next.closeBlocking()
  }

  @Test
  func `fault 75: what this build folds onto another's tables is not saved as the other's`() async throws {
    let disk = try disk()
    let other = try savedBuild(disk)
    let folder = StateStore.folder(Self.folding)
    let files = disk.contents(in: folder)
    let store = try StateStore.open(disk, options: options())
    let projector = store.projector(Self.folding)
    ChangingTally.hold(through: store.head.sequence)
    _ = try await projector.state(reaching: .max)
    try store.put("new", ["n": 1])
    _ = try await projector.state(reaching: .max)
    projector.endConfirmation()
    ChangingTally.hold(through: 0)
    try store.checkpointBlocking()
    try store.closeBlocking()
    #expect(disk.contents(in: folder) == files && !files.isEmpty)
    #expect(try savedBuild(disk) == other && other != ownBuild)
  }

  @Test func `a close that has no time to fold does not save the other build's tables as this build's`()
    async throws
  {
    let disk = try disk()
    ChangingTally.code.withLock { $0 = 2 }
    var options = options()
    options.closeFoldingMax = .milliseconds(1)
    let store = try StateStore.open(disk, options: options)
    let projector = store.projector(Self.folding)
    // As if a pass went on until the outcome is known, so that nobody takes it over.
    projector.state.withLock { $0.isFolding = true }
    let fold = projector.currentFold()
    fold.state.chain = store.log.mark.visible.chain
    _ = projector.publish(fold.state, by: projector.exclusive, keepsFold: true)
    while !projector.state.withLock({ $0.origin.isCompared }) { try await Task.sleep(for: .milliseconds(1)) }
    var events = StateEvents(seed: 12)
    for _ in 0..<200 { try events.append(to: store) }
    // A pass takes over this build's tables, and ends before it has published them: nobody waits any longer.
    let own = projector.exclusive
    own.slice.setWanted(false)
    #expect(!projector.foldOn(own) && projector.otherBuild == nil)
    #expect(
      projector.state.withLock { $0.folded.build } != nil
        && projector.published.sequence < store.head.sequence)
    try store.closeBlocking()
    let next = try StateStore.open(disk, options: self.options())
    let restored = Projector(next.log, Self.folding).checkpoints?.restore()
    if let restored {
      let again = Fold(next.log, Self.folding)
      try again.run(through: restored.tables.sequence)
      #expect(again.state.hasSameContent(as: restored.tables))
    }
    #expect(try savedBuild(disk) != nil)
    try next.closeBlocking()
  }

  /// A store whose comparison has ended, and a fold of it that a pass is at.
  private func compared(_ disk: SimulatedDisk) async throws -> (store: EventStore, projector: Projector) {
    ChangingTally.code.withLock { $0 = 2 }
    let store = try StateStore.open(disk, options: options())
    let projector = store.projector(Self.folding)
    projector.state.withLock { $0.isFolding = true }
    let fold = projector.currentFold()
    fold.state.chain = store.log.mark.visible.chain
    _ = projector.publish(fold.state, by: projector.exclusive, keepsFold: true)
    while !projector.state.withLock({ $0.origin.isCompared }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(projector.otherBuild != nil)
    return (store, projector)
  }

  enum Ending: CaseIterable { case givenUp, cancelled, failed }

  @Test(arguments: Ending.allCases)
  func `fault 75: what a comparison found out outlasts a pass that is given up, cancelled or failed`(
    _ ending: Ending
  ) async throws {
    let (store, projector) = try await compared(disk())
    var own = projector.exclusive
    own.slice.setWanted(false)
    switch ending {
    case .givenUp:
      // Another fold goes on, which has not begun yet.
      let options = store.log.options
      own = projector.state.withLock { state in
        state.exclusive = Projector.Exclusive(options, begin: state.folded, state.exclusive.work)
        return state.exclusive
      }
    case .cancelled:
      var events = StateEvents(seed: 12)
      for _ in 0..<20 { try events.append(to: store) }
      own.target = store.log.mark.visible
      #expect(projector.foldOn(own) && own.target == nil, "nothing takes over what was found out")
    case .failed:
      #expect(projector.fail(.closed, own), "nothing takes over what was found out")
    }
    while projector.foldOn(own) {}
    #expect(projector.otherBuild == nil)
    #expect(try status(store).isVersionNotRaised)
    #expect(try await store.difference(of: Self.folding) == nil)
    try store.closeBlocking()
  }

  @Test func `while a program is being developed, a state of another build is not used`() throws {
    let disk = try disk()
    var options = options()
    options.usesStatesOfOtherBuilds = false
    let store = try StateStore.open(disk, options: options)
    #expect(store.projector(Self.folding).currentFold().state.sequence == 0)
    try store.closeBlocking()
  }

  @Test func `fault 75: tables are those of the newest code after any history of builds`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var taken = 0
    for _ in 0..<500 {
      ChangingTally.code.withLock { $0 = 1 }
      let disk = SimulatedDisk()
      var events = StateEvents(seed: random.next())
      for _ in 0..<Int.random(in: 2...4, using: &random) {
        if Int.random(in: 0..<3, using: &random) == 0 {
          ChangingTally.code.withLock { $0 = Int.random(in: 1...3, using: &random) }
          if disk.contents(StateStore.stateFile(Self.folding)) != nil { try forge(disk) }
        }
        let store = try StateStore.open(disk, options: options())
        let projector = store.projector(Self.folding)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          switch Int.random(in: 0..<8, using: &random) {
          case 0..<4: try events.append(to: store)
          case 4: try store.checkpointBlocking()
          case 5 where store.head.sequence > 0:
            let sequence = UInt64.random(in: 1...store.head.sequence, using: &random)
            _ = try? store.eraseBlocking(Erasure(sequences: [sequence...sequence], because: "asked to"))
          default: _ = try await projector.state(reaching: store.head.sequence)
          }
        }
        if Bool.random(using: &random) {
          _ = try await projector.state(reaching: store.head.sequence)
          settle(projector)
          #expect(projector.otherBuild == nil)
          let difference = try await store.difference(of: Self.folding)
          #expect(difference == nil)
          if projector.state.withLock({ $0.origin.isVersionNotRaised }) { taken += 1 }
        }
        try store.closeBlocking()
      }
      let store = try StateStore.open(disk, options: options())
      let projector = store.projector(Self.folding)
      _ = try await projector.state(reaching: store.head.sequence)
      settle(projector)
      let difference = try await store.difference(of: Self.folding)
      #expect(difference == nil)
      try store.closeBlocking()
    }
    print("\(taken) times, tables of another code took over")
    #expect(taken > 20)
  }
}
