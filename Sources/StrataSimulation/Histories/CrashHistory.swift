// A workload on a store on a simulated disk, and the power cuts that may end it.

internal import StrataBase
internal import StrataLog

/// A workload from a seed, with all checks of what remains after power cuts.
///
/// The same seed gives the same calls in the same order: one thread hands over appends and waits, and the committer
/// works while that thread waits.
package struct CrashHistory {
  /// A check that failed, and the seed that reproduces it.
  package struct Failure: Error, CustomStringConvertible {
    package var seed: UInt64
    package var what: String
    package var description: String { "history \(seed): \(what)" }
  }

  /// What a disk does to unsynced data.
  package enum Disk: Sendable {
    /// Each sector is old or new.
    case keepsSectors
    /// Sectors that were being written may hold garbage; groups are padded against that.
    case tearsSectors
    /// A disk outside the model: garbage without padding, or syncs that do nothing. The store may then refuse damage,
    /// but must never return it as data.
    case outsideModel
  }

  private static let root = "/store"
  /// The maximum depth of power cuts within recoveries from power cuts.
  package static let depthMax = 3

  private let seed: UInt64
  private let disk: Disk
  private let capturesMax: Int
  private var options = StoreOptions()
  private var random: SeededGenerator
  private var appends: RandomAppends
  private var model = LogModel()
  package private(set) var counts = CrashCounts()
  /// A checksum of all cuts that were checked and of what remained after them. Equal runs have equal checksums.
  package private(set) var trace: UInt64 = 0

  /// - Parameter preallocationStep: nil to choose it from the seed. A value reproduces a history from before the seed
  ///   chose this option.
  package init(seed: UInt64, capturesMax: Int = 12, preallocationStep: Int? = nil) {
    self.seed = seed
    self.capturesMax = capturesMax
    random = SeededGenerator(seed: seed)
    disk =
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .outsideModel
      case 1, 2: .tearsSectors
      default: .keepsSectors
      }
    appends = RandomAppends(
      seed: random.next(), sizeTypical: [20, 400, 1_500].randomElement(using: &random)!, sizeMax: 3_000,
      streamCount: 5, eventsMax: 3)
    options.durability = Durability.allCases.randomElement(using: &random)!
    options.segmentSizeTarget = [1, 5_000, 8_000, 12_000, 30_000].randomElement(using: &random)!
    options.sealsInBackground = false
    options.blockSizeTarget = [1, 300, 2_000].randomElement(using: &random)!
    options.groupSizeMax = [500, 1 << 20].randomElement(using: &random)!
    options.headSyncInterval = Bool.random(using: &random) ? .zero : .seconds(3_600)
    options.padsGroupsToPages = disk == .tearsSectors || Int.random(in: 0..<6, using: &random) == 0
    options.writesInStep = true
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    if disk == .outsideModel { options.padsGroupsToPages = false }
    // A separate generator, so that all other choices of a seed stay as they were.
    var own = SeededGenerator(seed: ~seed)
    options.preallocationStep = preallocationStep ?? [0, 4_096, 4_096, 16_384].randomElement(using: &own)!
  }

  /// Runs the workload once, and checks every power cut that was recorded during it.
  package mutating func run() throws(Failure) {
    let simulated = SimulatedDisk()
    let recorder = CrashRecorder(on: simulated, countMax: capturesMax, random: random.split())
    if disk == .outsideModel, Int.random(in: 0..<4, using: &random) > 0 {
      // For all files, or only for segments, so that HEAD promises data that is not there.
      simulated.inject(
        SimulatedSyncFailure(
          number: Int.random(in: 1...6, using: &random), keepsData: true, isReported: false, isLasting: true,
          pathSuffix: Int.random(in: 0..<4, using: &random) > 0 ? ".seg" : ""))
    }
    for life in 0..<Int.random(in: 1...3, using: &random) {
      let log = try open(simulated, "life \(life)")
      recorder.isOpen(holding: model.appends.count)
      try work(log, recorder, batches: Int.random(in: 1...6, using: &random))
      if Bool.random(using: &random) { try? log.close() } else { Self.drop(log, simulated) }
      recorder.watch(simulated)
    }
    simulated.onOperation(nil)
    for capture in recorder.captures { try check(capture, depth: 0) }
  }

  /// Closes the log without an update of HEAD, like a killed process: every call of the close that would change the
  /// disk fails.
  private static func drop(_ log: Log, _ disk: SimulatedDisk) {
    disk.onOperation { $0.operation.isChange ? .fail(SystemErrorCode.inputOutput) : .proceed }
    try? log.close()
    disk.onOperation(nil)
  }

  private func open(_ disk: SimulatedDisk, _ when: String) throws(Failure) -> Log {
    do throws(StoreError) {
      return try Log.openWriter(
        disk, path: Self.root, options: options, storeID: StoreID(low: 1, high: 2))
    } catch { throw failure("the store does not open in \(when): \(error)") }
  }

  private func failure(_ what: String) -> Failure {
    Failure(
      seed: seed,
      what: "\(what) (\(disk), \(options.durability), "
        + "\(options.padsGroupsToPages ? "padded" : "not padded"), "
        + "\(options.preallocationStep) written ahead)")
  }

  /// Appends some batches, and reports to the recorder what was acknowledged and what is durable.
  private mutating func work(_ log: Log, _ recorder: CrashRecorder, batches: Int) throws(Failure) {
    for _ in 0..<batches {
      var batch: [ModelAppend] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) { batch.append(appends.append()) }
      let first = model.appends.count
      let head = model.head
      for append in batch { model.add(append, time: nil) }
      let results: [AppendResult]
      do throws(StoreError) { results = try log.appendBlocking(batch.map { $0.draft() }) } catch {
        throw failure("a batch was refused: \(error)")
      }
      var next = head + 1
      for (append, result) in zip(batch, results) {
        guard case .success(let outcome) = result else { throw failure("an append failed: \(result)") }
        guard outcome.first == next, !outcome.isKnown else {
          throw failure("an append is at \(outcome.first)")
        }
        next += UInt64(append.events.count)
      }
      recorder.acknowledged(
        first + batch.count, durable: model.appends.count { $0.last <= log.mark.durable.sequence })
      try rewrite(log, recorder)
    }
  }

  /// Sometimes seals the store, or erases the content of one stream.
  private mutating func rewrite(_ log: Log, _ recorder: CrashRecorder) throws(Failure) {
    let draw = Int.random(in: 0..<8, using: &random)
    guard draw < 2 else { return }
    defer { recorder.isAsked(nil) }
    do throws(StoreError) {
      if draw == 0 {
        recorder.isAsked(.seal)
        _ = try log.seal()
      } else {
        let stream = appends.stream()
        model.perhapsErase { $0.stream == stream }
        recorder.isAsked(.erasing)
        try log.roll()
        _ = try log.erase(in: log.closedSegments) { event, _ in
          String(decoding: event.stream, as: UTF8.self) == stream
        }
      }
    } catch {
      // A rewrite may find damage on such a disk. It does so before it replaces any file.
      if disk == .outsideModel { return }
      throw failure("a rewrite failed: \(error)")
    }
    recorder.acknowledged(model.appends.count, durable: model.appends.count)
  }

  // MARK: After the power cut

  /// Draws what happens to the unsynced data, for this kind of disk.
  private mutating func drawModel() -> CrashModel {
    switch (disk, Int.random(in: 0..<10, using: &random)) {
    case (_, 0): .lossless
    case (.keepsSectors, 1...2): .dropAll
    case (.keepsSectors, _): .reorder
    case (.tearsSectors, _): .garbage
    case (.outsideModel, 1...4): .dropAll
    case (.outsideModel, let draw): draw % 2 == 0 ? .garbage : .reorder
    }
  }

  private mutating func check(_ capture: CrashRecorder.Capture, depth: Int) throws(Failure) {
    if capture.disk.unsynced.isEmpty { return }
    let cut = drawModel()
    let after = capture.disk.crash(seed: random.next(), model: cut)
    counts.cases += 1
    counts.depths[depth] += 1
    counts.phases[capture.phase, default: 0] += 1
    counts.models[cut, default: 0] += 1
    note(capture, after)
    let place = "depth \(depth + 1), \(cut), \(capture)"
    // The end of a process loses nothing that was handed to the system.
    let isSafe = options.durability != .buffered || cut == .lossless
    let countMin = isSafe ? capture.acknowledged : capture.durable
    let tail = look(at: after)
    let recorder = CrashRecorder(
      on: after, countMax: depth + 1 < Self.depthMax ? 2 : 0, random: random.split(),
      acknowledged: countMin, durable: cut == .lossless ? capture.durable : countMin,
      isInRecovery: tail != nil)
    let before = model
    defer { model = before }
    guard let log = try openAfter(after, countMin: countMin, place) else {
      counts.corrupt += 1
      return
    }
    recorder.isOpen(holding: model.appends.count)
    if disk == .outsideModel {
      try? log.close()
      return
    }
    try work(log, recorder, batches: 1)
    if let tail, !after.contents(in: "\(Self.root)/quarantine").contains(tail) {
      throw failure("\(place): a torn tail was not kept")
    }
    try? log.close()
    after.onOperation(nil)
    let again = try open(after, "\(place), after recovery")
    if let what = model.difference(from: again, countMin: model.appends.count) {
      throw failure("\(place): after recovery, \(what)")
    }
    try? again.close()
    try verify(after, place)
    for inner in recorder.captures { try check(inner, depth: depth + 1) }
  }

  private mutating func note(_ capture: CrashRecorder.Capture, _ disk: SimulatedDisk) {
    var text = Array("\(capture)".utf8)
    for path in disk.paths { text += Array(path.utf8) + (disk.contents(path) ?? []) }
    trace = text.withUnsafeBytes { XXH64.of($0) } &+ (trace &* 31)
  }

  /// Opens the store after a cut, compares it with the model, and updates the model to what remains. Nil if the store
  /// is refused or cannot be read, which is allowed for a disk outside the model.
  private mutating func openAfter(
    _ disk: SimulatedDisk, countMin: Int, _ place: String
  ) throws(Failure) -> Log? {
    let mayBeDamaged = self.disk == .outsideModel
    let log: Log
    do throws(StoreError) {
      log = try Log.openWriter(disk, path: Self.root, options: options, storeID: StoreID(low: 1, high: 2))
    } catch {
      if mayBeDamaged, case .damaged = error { return nil }
      throw failure("\(place): an intact store is refused: \(error)")
    }
    let found: [(append: ModelAppend, revisions: [UInt64])]
    do throws(StoreError) { found = try log.modelAppends() } catch {
      try? log.close()
      if mayBeDamaged { return nil }
      throw failure("\(place): reading failed: \(error)")
    }
    if let what = model.difference(from: log, holding: found, countMin: mayBeDamaged ? 0 : countMin) {
      throw failure("\(place): after the crash, \(what)")
    }
    model.keepFirst(found.count)
    model.adoptTimes(from: found)
    return log
  }

  /// Checks that the verifier finds nothing in a store that has recovered and was closed.
  private func verify(_ disk: SimulatedDisk, _ place: String) throws(Failure) {
    do throws(StoreError) {
      var verifier = LogVerifier(disk, path: Self.root)
      let report = try verifier.run()
      guard report.isOK else { throw StoreError.damaged(report.findings[0]) }
    } catch { throw failure("\(place): a check after recovery says \(error)") }
  }

  /// Counts the state after a cut: a clean end, a torn tail, a hole before a valid block.
  /// - Returns: the torn tail, if there is one.
  private mutating func look(at disk: SimulatedDisk) -> [UInt8]? {
    let layout = StoreLayout(root: Self.root)
    guard let first = try? SegmentCatalog.names(disk, layout).last,
      let file = try? disk.open(layout.segment(first), .read),
      let header = try? SegmentHandle.readHeader(of: file, first: first, storeID: nil),
      let head = Optional(try? HeadFile.read(disk, path: layout.head)),
      let assessment = try? TailRule.assess(file: file, name: "", segment: header, head: head)
    else { return nil }
    defer { file.close() }
    let bytes = disk.contents(layout.segment(first)) ?? []
    var place = Int(assessment.link.offset)
    while place + BlockHeader.length <= bytes.count {
      let isBlock = bytes.withUnsafeBytes { buffer in
        BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: buffer[place...]))?.ownOffset == UInt64(place)
      }
      if isBlock, place > Int(assessment.link.offset) {
        counts.holes += 1
        break
      }
      place += 8
    }
    if assessment.state == .clean {
      counts.clean += 1
      if assessment.fileSize > assessment.link.offset { counts.zeroTails += 1 }
    }
    guard assessment.state == .torn else { return nil }
    counts.torn += 1
    return Array(bytes[Int(assessment.link.offset)...])
  }
}
