// The laws of copies under random schedules of faults.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct ReplicaLawTests {
  /// How many histories of each kind an ordinary run has.
  static let usual = 250
  private static let parts = 10

  private static func seeds(_ part: Int) -> [UInt64] {
    SeededGenerator.historySeeds(usual / parts, share: parts).map { $0 &* UInt64(parts) &+ UInt64(part) }
  }

  @Test(arguments: 0..<parts)
  func `what was called replicated is on every member, in one order, whatever the carrier in memory does`(
    part: Int
  ) throws {
    var (takeovers, powerCuts, segments) = (0, 0, 0)
    for seed in Self.seeds(part) {
      let carrier = MemoryCarrier()
      var schedule = try ReplicaSchedule(seed: seed, carrier: carrier) { isOn in
        carrier.setFaults(isOn ? .all(seed % 3 == 0 ? 0.3 : 0.1) : .init(), seed: seed)
      }
      do { try schedule.run(steps: 150) } catch {
        Issue.record("\(error), seed \(seed)")
        return
      }
      takeovers += schedule.takeovers
      powerCuts += schedule.powerCuts
      segments += schedule.segments
    }
    #expect(takeovers > 0 && powerCuts > 0 && segments > 0)
  }

  @Test(arguments: 0..<parts)
  func `what was called replicated is on every member, in one order, with a folder that loses power`(
    part: Int
  ) throws {
    for seed in Self.seeds(part) {
      let disk = FailingFolder(seed: seed)
      var schedule = try ReplicaSchedule(seed: seed, carrier: disk) { disk.setFaults($0) }
      do { try schedule.run(steps: 150) } catch {
        Issue.record("\(error), seed \(seed)")
        return
      }
    }
  }
}

/// A folder on a disk that loses power between two calls, and refuses some calls.
final class FailingFolder: CarrierFiles {
  private struct State {
    var disk = SimulatedDisk()
    var random: SeededGenerator
    var isFailing = false
  }

  private let state: Lock<State>

  init(seed: UInt64) { state = Lock(State(random: SeededGenerator(seed: seed ^ 0xF01D))) }

  var name: String { "file:/carrier" }

  func setFaults(_ isOn: Bool) {
    state.withLock { state in
      state.isFailing = isOn
      if state.disk.isPoweredOff { state.disk = state.disk.crash(seed: 4, model: .dropAll) }
      state.disk.onOperation(nil)
    }
  }

  /// The folder for the next call, after what may happen before it.
  private func folder() -> FolderCarrier {
    state.withLock { state in
      guard state.isFailing else { return FolderCarrier(state.disk, path: "/carrier") }
      if state.disk.isPoweredOff {
        let model = [CrashModel.reorder, .garbage, .dropAll].randomElement(using: &state.random)!
        state.disk = state.disk.crash(seed: state.random.next(), model: model)
      }
      switch Int.random(in: 0..<30, using: &state.random) {
      case 0...1:
        let number = state.disk.operationCount + Int.random(in: 0..<8, using: &state.random)
        state.disk.onOperation { $0.number == number ? .cutPower(partOfWrite: 0.5) : .proceed }
      case 2...4:
        let number = state.disk.operationCount + Int.random(in: 0..<8, using: &state.random)
        state.disk.onOperation { call in
          call.number == number ? .fail(SystemErrorCode.inputOutput) : .proceed
        }
      default: state.disk.onOperation(nil)
      }
      return FolderCarrier(state.disk, path: "/carrier")
    }
  }

  func prove() throws(CarrierError) { try folder().prove() }
  func put(_ objects: [CarrierObject]) -> CarrierAnswer { folder().put(objects) }
  func confirm(_ object: CarrierObject) throws(CarrierError) { try folder().confirm(object) }
  func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? { try folder().object(number) }
  func extent() throws(CarrierError) -> CarrierExtent { try folder().extent() }
  func hasObject(_ number: UInt64) throws(CarrierError) -> Bool { try folder().hasObject(number) }
  func replaceObject(_ object: CarrierObject) throws(CarrierError) { try folder().replaceObject(object) }
  func waitForObject(_ number: UInt64, within interval: Duration) {}
  func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer { folder().createFile(name, bytes) }
  func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError) {
    try folder().replaceFile(name, bytes)
  }
  func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) { try folder().replaceFile(name, size: size, from: read) }
  func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int? { try folder().readFile(name, at: offset, into: buffer) }
  func fileNames(in folder: String) throws(CarrierError) -> [String] {
    try self.folder().fileNames(in: folder)
  }
  func removeFiles(_ names: [String], in folder: String) throws(CarrierError) {
    try self.folder().removeFiles(names, in: folder)
  }
}
