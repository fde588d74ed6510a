// Builds in advance the indexes of closed segments that waiting appends need.

internal import StrataBase

/// The thread that builds the indexes for which the queue has set appends aside. It starts when there is such an append
/// and ends when there is none, so that most writers never have it.
///
/// Of the segments that the appends need, it builds the newest first: an append waits for the segments that its own
/// lookup reaches, and for no older ones. An error on the way occurs again when the append is framed, which reports it
/// to the caller.
final class LookupThread: Sendable {
  private struct State {
    var isRunning = false
    var isStopped = false
  }

  /// An append that is set aside, and the progress of its lookup.
  private struct Waiting {
    /// Retained, so that no other draft can have its object identity meanwhile.
    let draft: AppendDraft
    var lookup: ClosedLookup
    /// The segment whose index it waits for.
    var missing: IndexPart?
    /// The segment that was last built for it. If that index is still missing, framing the append finds out why.
    var tried: IndexPart?
  }

  private let state = Gate(State())
  private let index: StoreIndex
  private let queue: CommitQueue
  private let machine: StoreMachine

  init(index: StoreIndex, queue: CommitQueue, on machine: StoreMachine) {
    self.index = index
    self.queue = queue
    self.machine = machine
  }

  /// Ensures that the appends set aside are handled. If no thread can be started, the committer handles them itself.
  func start() {
    let starts = state.withLock { state in
      guard !state.isRunning, !state.isStopped else { return false }
      state.isRunning = true
      return true
    }
    guard starts else { return }
    do throws(StoreError) {
      try machine.start("strata-look") { self.run() }
    } catch {
      state.withLock { $0.isRunning = false }
      state.signalAll()
      queue.release { _ in true }
    }
  }

  /// Ends the thread, after the index that it is building. It does not access the store from then on.
  func finish() {
    state.withLock { $0.isStopped = true }
    state.wait { !$0.isRunning }
  }

  /// Continues after a suspension.
  func reopen() {
    state.withLock { state in
      assert(!state.isRunning, "nothing is looked up while the store is suspended")
      state.isStopped = false
    }
  }

  private func run() {
    var waiting: [ObjectIdentifier: Waiting] = [:]
    while let drafts = next() {
      var left: [ObjectIdentifier: Waiting] = [:]
      for draft in drafts {
        let key = ObjectIdentifier(draft)
        var one = waiting[key] ?? Waiting(draft: draft, lookup: ClosedLookup(draft, in: index))
        do throws(StoreError) { one.missing = try one.lookup.advance(in: index) } catch { one.missing = nil }
        if one.missing == one.tried { one.missing = nil }
        left[key] = one
      }
      waiting = left
      let isReady = { (draft: AppendDraft) in left[ObjectIdentifier(draft)].map { $0.missing == nil } ?? false
      }
      if queue.release(isReady) > 0 { continue }
      guard let needed = left.values.compactMap(\.missing).max() else { continue }
      for key in left.keys where left[key]?.missing == needed { waiting[key]?.tried = needed }
      _ = try? index.closedIndex(needed)
    }
  }

  /// The drafts that are set aside, or nil if there are none: the thread then ends.
  private func next() -> [AppendDraft]? {
    let drafts = state.withLock { state -> [AppendDraft]? in
      let drafts = state.isStopped ? [] : queue.draftsAside
      assert(state.isRunning, "isRunning is true until the thread ends")
      guard drafts.isEmpty else { return drafts }
      state.isRunning = false
      return nil
    }
    if drafts == nil { state.signalAll() }
    return drafts
  }
}
