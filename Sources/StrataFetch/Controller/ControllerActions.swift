// The result of a transition of a fetch controller: its outcome, and what the shell does next.

internal import StrataLists

/// What the shell does after it has released the lock, in this order. Building it allocates nothing, unless tasks are
/// cancelled.
struct ControllerActions<Old: Sendable>: Sendable {
  /// Start following the log with this task.
  var startFollowing: CancellableTask?
  var cancel: [CancellableTask] = []
  /// Wake every waiting consumer.
  var wake = false
  /// The replaced value. It is released after the lock, because it may hold many pages, and closures that use the
  /// controller.
  var release: Old?

  static var none: Self { Self() }
  static var wake: Self { Self(wake: true) }
}

// The outcomes are not nested in the generic state: every use of a nested type would look up its generic parameters.

/// The outcome of replacing the request in force.
enum Replacement: Sendable {
  case replaced
  /// The request in force is no longer the one that was to be replaced.
  case overtaken
  case cancelled
}

/// The outcome of publishing a list that was fetched.
enum Publication: Sendable {
  case published
  /// The published list is of the same request, and at least as new.
  case alreadyShown
  /// The list's request was replaced, or the published list is newer.
  case superseded
  case cancelled
}

/// How a consumer ends when there is nothing more to deliver.
enum Ending: Sendable {
  case none, cancelled
  /// The store was closed.
  case ended
  case failed(ListError, FailureID)
}
