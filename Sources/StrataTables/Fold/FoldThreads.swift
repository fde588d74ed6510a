// The threads that folds run on.

package import StrataBase
package import StrataEvents

/// The threads on which the folds of a store take turns. All stores of a process share them, apart from those that
/// are given others. Folds have threads for themselves, so that a long one keeps nobody from the disk.
package final class FoldThreads: Sendable {
  /// For the newest states, which are kept.
  package let newest: FairThreads
  /// For those who follow the log append by append.
  package let following: FairThreads
  /// For states of the past.
  package let past: FairThreads

  /// All folds on the same threads.
  package init(_ threads: FairThreads) {
    newest = threads
    following = threads
    past = threads
  }

  private init() {
    newest = FairThreads(name: "strata-fold")
    following = FairThreads(name: "strata-follow")
    past = FairThreads(name: "strata-past")
  }

  /// Those of the process.
  package static let shared = FoldThreads()
}

extension EventStore {
  /// The threads for folds of this store.
  package var foldThreads: FoldThreads { attachment { FoldThreads.shared } }
}
