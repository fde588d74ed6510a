// Giving a store out of hand for a while, as an application must whose system stops it.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Commits what was accepted, marks the store as closed cleanly and gives its lock back, so that the system may
  /// stop the process and another one may write. Call it when the application goes to the background: on Apple's
  /// systems a suspended process that holds a lock in a shared folder is ended.
  ///
  /// The object stays: feeds, folds and lists wait and go on after `resume`. Reading what is there goes on too. An
  /// append is refused as unavailable, `suspended`, from here on and does not wait, because nobody may ever resume. A
  /// store that is open for reading looks at no file of its own accord until it is resumed. Doing it twice does
  /// nothing.
  ///
  /// Throws where the store could not be closed cleanly. It is closed then, and what was acknowledged as synced is
  /// there.
  public func suspend() async throws(StoreError) {
    let thread = machine.thread("strata-close")
    let result = await thread.result { [log] () throws(StoreError) in try log.suspend() }
    try result.get()
  }

  /// Takes the lock again and goes on. What another writer appended in between is visible then, and feeds deliver it.
  ///
  /// Throws as opening does, and the store stays suspended: `locked` where another writer has it now, and
  /// the reason `protected` where the device is still locked; try again. `diverged` where the log is not the one that was
  /// left: open it anew. A task that is cancelled while it waits for the lock gets
  /// `CancellationError`.
  public func resume() async throws {
    try await LockWait.trying(for: log.options.lockTimeout, on: machine) { [self] () throws(StoreError) in
      try resumeBlocking(lockTimeout: .zero)
    }
  }

  /// The same as `suspend` for a thread that may block. Never on the cooperative pool.
  public func suspendBlocking() throws(StoreError) {
    try log.suspend()
  }

  /// The same as `resume` for a thread that may block. Never on the cooperative pool.
  public func resumeBlocking() throws(StoreError) { try resumeBlocking(lockTimeout: nil) }

  private func resumeBlocking(lockTimeout: Duration?) throws(StoreError) {
    try log.resume(lockTimeout: lockTimeout)
    // What another writer left undone is done, as when the store is opened.
    if !log.isReadOnly { try finishErasuresAtOpen() }
  }
}
