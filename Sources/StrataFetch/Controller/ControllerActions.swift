// What comes of a transition of a fetch controller: its outcome, and what the shell does next.

internal import StrataLists

/// What the shell does once it has given the lock back, in this order. Nothing is allocated for it, except where tasks
/// are cancelled.
struct ControllerActions<Old: Sendable>: Sendable {
  /// Begin to follow the log with this task.
  var startFollowing: CancellableTask?
  var cancel: [CancellableTask] = []
  /// Wake everybody who waits for news.
  var wake = false
  /// What was replaced. It ends behind the lock: it may hold many pages, and closures that ask the controller.
  var release: Old?

  static var none: Self { Self() }
  static var wake: Self { Self(wake: true) }
}

// The outcomes are types of their own and not the state's, whose parameters each use of them would look up.

/// What became of a request that was to replace the one in force.
enum Replacement: Sendable {
  case replaced
  /// Another request is in force than the one that was to be replaced.
  case overtaken
  case cancelled
}

/// What became of a list that was fetched.
enum Publication: Sendable {
  case published
  /// What is shown is a list of the same request, and as new.
  case alreadyShown
  /// Its request was replaced, or what is shown is newer.
  case superseded
  case cancelled
}

/// How a consumer ends that has nothing more to be told.
enum Ending: Sendable {
  case none, cancelled
  /// The store was closed.
  case ended
  case failed(ListError, FailureID)
}
