// Looks up ahead what appends need of closed segments whose indexes are not built.

internal import StrataBase

/// The thread that has the indexes built for which the queue has set appends aside. It begins when there is one and
/// ends when there is none, so that most writers never have it.
///
/// Of the segments that any append needs it builds the newest first: an append waits for those that its own look-up
/// comes to, and for no older one. What goes wrong on the way goes wrong again when the append is framed, which is where
/// its caller is told.
final class LookupThread: Sendable {
  private struct State {
    var isRunning = false
    var isStopped = false
  }

  /// An append that is set aside, and how far its look-up got.
  private struct Waiting {
    /// Kept, so that no other draft has its identity meanwhile.
    let draft: AppendDraft
    var lookup: ClosedLookup
    /// The segment whose index it waits for.
    var missing: SegmentName?
    /// The last of these that was to be built. Where it is still missing, framing the append finds out why.
    var tried: SegmentName?
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

  /// Makes sure that somebody looks after what was set aside. The committer itself does where there is no thread.
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

  /// Ends the thread, behind the index that it is at. Nothing of the store is touched from then on.
  func finish() {
    state.withLock { $0.isStopped = true }
    state.wait { !$0.isRunning }
  }

  /// Goes on after a suspension.
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

  /// What is set aside, or nil where that is nothing: the thread then ends.
  private func next() -> [AppendDraft]? {
    let drafts = state.withLock { state -> [AppendDraft]? in
      let drafts = state.isStopped ? [] : queue.draftsAside
      assert(state.isRunning, "a thread that looks up is counted until it ends")
      guard drafts.isEmpty else { return drafts }
      state.isRunning = false
      return nil
    }
    if drafts == nil { state.signalAll() }
    return drafts
  }
}
