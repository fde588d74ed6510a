// Shared by the tests of the controller's state machine: a state of plain values, and the names of its phases.

@testable internal import StrataFetch
@testable internal import StrataLists
internal import Testing

/// A list that has only a name and a sequence.
struct NamedList: SequencedList, Equatable {
  var name: String
  var sequence: UInt64
}

typealias PlainState = ControllerState<String, NamedList>

/// A phase without its associated values.
enum PhaseName: CaseIterable, Sendable { case idle, following, failed, ended, cancelled }

extension ControllerState.Phase {
  var name: PhaseName {
    switch self {
    case .idle: .idle
    case .following: .following
    case .failed: .failed
    case .ended: .ended
    case .cancelled: .cancelled
    }
  }
}

extension ControllerActions {
  /// Whether there is nothing to do.
  var isNone: Bool { startFollowing == nil && cancel.isEmpty && !wake && release == nil }

  /// Whether the only action is to wake the waiting tasks.
  var isWakeAlone: Bool {
    var others = self
    others.wake = false
    return wake && others.isNone
  }
}

/// A state in a given phase, and its tasks.
struct PhasedState {
  static let failure = ListError.row("a failure")

  var state = PlainState(request: "first")
  let follower = CancellableTask()
  let delivery = CancellableTask()

  /// The state shows a list at sequence 10, and has a delegate's task.
  init(_ phase: PhaseName) {
    _ = state.publish(NamedList(name: "shown", sequence: 10), of: state.epoch)
    _ = state.replaceDelivery(by: delivery)
    if phase != .idle { _ = state.follow(with: follower) }
    switch phase {
    case .idle, .following: break
    case .failed: _ = state.followerFailed(follower, with: Self.failure)
    case .ended: _ = state.followerEnded(follower)
    case .cancelled: _ = state.cancel()
    }
  }
}
