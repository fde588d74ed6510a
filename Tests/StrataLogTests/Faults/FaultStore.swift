// A store on a simulated disk and the model of what it acknowledged, for tests that let one thing go wrong.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

/// A writer's store and what a test needs to say of it in few words.
final class FaultStore {
  static let root = "/store"
  static let layout = StoreLayout(root: root)
  static let storeID = StoreID(low: 1, high: 2)

  private(set) var disk: SimulatedDisk
  let options: StoreOptions
  private(set) var log: Log
  /// What was acknowledged.
  private(set) var model = LogModel()
  private var source: RandomAppends

  /// Nothing is synced because time went by, and nothing is done beside the appends.
  static func options(
    _ durability: Durability = .synced, segmentSizeTarget: Int = 1 << 20,
    change: (inout StoreOptions) -> Void = { _ in }
  ) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = durability
    options.segmentSizeTarget = segmentSizeTarget
    options.blockSizeTarget = 300
    options.headSyncInterval = .seconds(3_600)
    options.writesInStep = true
    options.sealsInBackground = false
    options.preallocationStep = 0
    change(&options)
    return options
  }

  init(_ disk: SimulatedDisk = SimulatedDisk(), _ options: StoreOptions = options(), seed: UInt64 = 1) throws
  {
    self.disk = disk
    self.options = options
    source = RandomAppends(seed: seed, sizeTypical: 80, sizeMax: 200, streamCount: 4, eventsMax: 3)
    log = try Log.openWriter(disk, path: Self.root, options: options, storeID: Self.storeID)
  }

  var active: String { Self.layout.segment(log.mark.segment) }
  var bytes: [UInt8] { disk.contents(active)! }
  /// The end of what was acknowledged, in the active segment.
  var end: Int { Int(log.mark.visible.offset) }

  func nextAppend() -> ModelAppend { source.append() }

  func append(_ count: Int = 1) throws(StoreError) {
    for _ in 0..<count { try append(source.append()) }
  }

  func append(_ append: ModelAppend) throws(StoreError) {
    let outcome = try log.appendBlocking(append.draft())
    model.add(append, time: outcome.time)
  }

  func close() throws(StoreError) { try log.close() }

  /// Ends the writer as a kill does: it changes nothing more, and HEAD stays as the last append left it.
  func kill() {
    disk.onOperation { $0.operation.isChange ? .fail(SystemErrorCode.inputOutput) : .proceed }
    try? log.close()
    disk.onOperation(nil)
  }

  /// Closes, and opens for writing again.
  func reopen() throws {
    try log.close()
    log = try Log.openWriter(disk, path: Self.root, options: options)
  }
}

extension FaultStore {
  /// Opens what is on a disk for writing, holds it against the model, appends, and opens it again.
  /// - Returns: what was wrong, or nil.
  static func problem(
    _ disk: SimulatedDisk, _ model: LogModel, countMin: Int, _ options: StoreOptions
  ) -> String? {
    var model = model
    do {
      let log = try Log.openWriter(disk, path: root, options: options, storeID: storeID)
      if let what = model.difference(from: log, countMin: countMin) { return what }
      model.keepFirst(try log.modelAppends().count)
      try model.adoptTimes(from: log)
      let append = ModelAppend([ModelEvent(stream: "after", type: "t", payload: [1, 2, 3])])
      model.add(append, time: try log.appendBlocking(append.draft()).time)
      try log.close()
      let again = try Log.openReader(disk, path: root, options: options)
      if let what = model.difference(from: again, countMin: model.appends.count) {
        return "after another append, \(what)"
      }
      try again.close()
      let findings = try disk.findings(inStore: root)
      return findings.isEmpty ? nil : "a check says \(findings)"
    } catch {
      return "an intact store is refused: \(error)"
    }
  }

  /// Expects that nobody opens the store, that the refusal is corruption, and that it changes nothing.
  static func expectCorrupt(
    _ disk: SimulatedDisk, _ options: StoreOptions, _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let before = disk.evidence(of: layout)
    for isWriter in [false, true] {
      do throws(StoreError) {
        let log =
          isWriter
          ? try Log.openWriter(disk, path: root, options: options)
          : try Log.openReader(disk, path: root, options: options)
        try? log.close()
        Issue.record(
          "\(what): it opens \(isWriter ? "for writing" : "for reading")", sourceLocation: sourceLocation)
      } catch {
        guard case .damaged = error else {
          Issue.record("\(what): \(error)", sourceLocation: sourceLocation)
          continue
        }
      }
    }
    #expect(
      disk.evidence(of: layout) == before, "\(what): the refusal changed something",
      sourceLocation: sourceLocation)
  }
}

/// The disk before each call of a store's life that changes something, with what was acknowledged by then.
struct Moment: Sendable {
  var disk: SimulatedDisk
  var call: SimulatedCall
  var acknowledged: Int
  var durable: Int

  var place: String { "before call \(call.number) (\(call.operation.rawValue) \(call.path))" }
}

/// Notes moments while something is done on a disk.
final class Moments: Sendable {
  private let state: Lock<(moments: [Moment], acknowledged: Int, durable: Int)>

  init(_ disk: SimulatedDisk, acknowledged: Int = 0) {
    state = Lock(([], acknowledged, acknowledged))
    disk.onOperation { [state, weak disk] call in
      guard call.operation.isChange, let disk else { return .proceed }
      let copy = disk.clone()
      state.withLock {
        $0.moments.append(
          Moment(disk: copy, call: call, acknowledged: $0.acknowledged, durable: $0.durable))
      }
      return .proceed
    }
  }

  func acknowledged(_ count: Int, durable: Int) {
    state.withLock { ($0.acknowledged, $0.durable) = (count, durable) }
  }

  var all: [Moment] { state.withLock { $0.moments } }
}

extension FaultStore {
  /// A whole life: creation, appends across rolls, a close, a second writer. Every call of it is a moment.
  static func life(_ options: StoreOptions) throws -> (moments: [Moment], model: LogModel) {
    let disk = SimulatedDisk()
    let moments = Moments(disk)
    let store = try FaultStore(disk, options)
    func append(_ count: Int) throws {
      for _ in 0..<count {
        let next = store.nextAppend()
        try store.append(next)
        let durable = store.log.mark.durable.sequence
        moments.acknowledged(
          store.model.appends.count, durable: store.model.appends.count { $0.last <= durable })
      }
    }
    try append(9)
    try store.reopen()
    moments.acknowledged(store.model.appends.count, durable: store.model.appends.count)
    try append(4)
    try store.close()
    disk.onOperation(nil)
    return (moments.all, store.model)
  }
}
