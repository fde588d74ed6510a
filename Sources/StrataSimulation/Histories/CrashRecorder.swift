// A recorder of the disk's state at some of its calls, so that one workload gives many power cuts.

internal import StrataBase

/// A recorder of copies of a disk, each taken before a call, with the number of appends acknowledged by then.
final class CrashRecorder: Sendable {
  struct Capture: Sendable, CustomStringConvertible {
    var disk: SimulatedDisk
    var phase: CrashPhase
    var call: SimulatedCall
    /// The number of appends acknowledged, and of those among them that the store had reported as durable.
    var acknowledged: Int
    var durable: Int

    var description: String { "before call \(call.number) (\(call.operation.rawValue) \(call.path))" }
  }

  private struct State {
    var captures: [Capture] = []
    var seen = 0
    var random: SeededGenerator
    var acknowledged: Int
    var durable: Int
    var isCreated = false
    var isInRecovery: Bool
    var asked: CrashPhase?
  }

  private let state: Lock<State>
  private let countMax: Int

  var captures: [Capture] { state.withLock { $0.captures } }

  init(
    on disk: SimulatedDisk, countMax: Int, random: SeededGenerator, acknowledged: Int = 0,
    durable: Int = 0, isInRecovery: Bool = false
  ) {
    state = Lock(
      State(random: random, acknowledged: acknowledged, durable: durable, isInRecovery: isInRecovery))
    self.countMax = countMax
    watch(disk)
  }

  /// Records calls of the disk from now on.
  func watch(_ disk: SimulatedDisk) {
    guard countMax > 0 else { return }
    disk.onOperation { [weak self, weak disk] call in
      if call.operation.isChange, let self, let disk { self.note(call, disk) }
      return .proceed
    }
  }

  /// Records that the store is open, and that it has `count` appends on the disk. A recovery lasts until the next
  /// append is acknowledged.
  func isOpen(holding count: Int) {
    state.withLock {
      $0.isCreated = true
      $0.acknowledged = count
      $0.durable = count
    }
  }

  func acknowledged(_ count: Int, durable: Int) {
    state.withLock {
      $0.acknowledged = count
      $0.durable = durable
      $0.isInRecovery = false
    }
  }

  /// Sets the operation that is requested of the store from now on; nil for appends.
  func isAsked(_ phase: CrashPhase?) { state.withLock { $0.asked = phase } }

  /// The probability that a call is recorded. It is 1 for the calls at which most data can be lost.
  private static func chance(of call: SimulatedCall, _ phase: CrashPhase) -> Double {
    switch phase {
    case .recovery: return 1
    case .creation: return 0.1
    case .roll, .seal, .erasing: return 0.2
    case .writing:
      let isSync = call.operation == .sync || call.operation == .syncData
      return isSync && call.path.hasSuffix(".seg") ? 1 : 0.2
    }
  }

  /// Records a call by reservoir sampling, so that late calls are as likely to be recorded as early ones.
  private func note(_ call: SimulatedCall, _ disk: SimulatedDisk) {
    state.withLock { state in
      let phase = CrashPhase(
        of: call, isCreated: state.isCreated, isInRecovery: state.isInRecovery, asked: state.asked)
      guard Double.random(in: 0..<1, using: &state.random) < Self.chance(of: call, phase) else { return }
      state.seen += 1
      let capture = Capture(
        disk: disk.clone(), phase: phase, call: call, acknowledged: state.acknowledged, durable: state.durable
      )
      if state.captures.count < countMax {
        state.captures.append(capture)
      } else {
        let place = Int.random(in: 0..<state.seen, using: &state.random)
        if place < countMax { state.captures[place] = capture }
      }
    }
  }
}
