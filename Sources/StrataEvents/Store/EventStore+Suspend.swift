// Releasing a store's lock for a while, as an application must do before the system suspends it.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Commits what was accepted, marks the store as closed cleanly, and releases its lock.
  ///
  /// The system may then stop the process, and another process may write. Call this when the application goes to the
  /// background: Apple's systems terminate a suspended process that holds a lock in a shared folder. That is also for
  /// a store that is open for reading: once it has saved a state, it holds the lock of a file beside it, which this
  /// releases. With `StoreOptions.readersSaveStates = false` it holds none.
  ///
  /// This object stays valid: feeds, folds and lists wait, and continue after `resume`. Events that are in the log can
  /// still be read. An append fails at once as unavailable, `suspended`; it does not wait, because the store may never
  /// be resumed. A store that is open for reading does not check its files in the background until it is resumed.
  /// Suspending a suspended store does nothing.
  ///
  /// Throws if the store could not be closed cleanly. It is closed in that case, and what was acknowledged as synced is
  /// on disk.
  public func suspend() async throws(StoreError) {
    let thread = machine.thread("strata-close")
    let result = await thread.result { [self] () throws(StoreError) in try suspendBlocking() }
    try result.get()
  }

  /// Takes the lock again and continues. What another writer appended in between is then visible, and feeds deliver it.
  ///
  /// Throws what opening throws, and the store stays suspended. `locked`: another writer has the store; the reason
  /// `protected`: the device is still locked. In both cases try again. `diverged`: the log is not the one that was
  /// suspended; open the store again. `CancellationError`: the task was cancelled while it waited for the lock.
  public func resume() async throws {
    try await LockWait.trying(for: log.options.lockTimeout, on: machine) { [self] () throws(StoreError) in
      try resumeBlocking(lockTimeout: .zero)
    }
  }

  /// Suspends the store as `suspend()` does, and blocks the calling thread. Do not call it on the cooperative pool.
  public func suspendBlocking() throws(StoreError) {
    try endAttachments { () throws(StoreError) in try log.suspend() }
  }

  /// Resumes the store as `resume()` does, and blocks the calling thread. Do not call it on the cooperative pool.
  public func resumeBlocking() throws(StoreError) { try resumeBlocking(lockTimeout: nil) }

  private func resumeBlocking(lockTimeout: Duration?) throws(StoreError) {
    try log.resume(lockTimeout: lockTimeout)
    // A follower's are carried out where it follows.
    guard !log.isReadOnly, log.replica?.role != .follower else { return }
    // Carry out erasures that another writer left unfinished, as an open does.
    try finishErasures()
  }
}
