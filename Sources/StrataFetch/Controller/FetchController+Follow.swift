// Following the log for waiting consumers, and how following ends.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension FetchController {
  /// Makes sure that a task follows the log while consumers wait.
  func follow() { change { $0.follow(with: CancellableTask()) } }

  /// Sets whether the log is followed even while no consumer waits.
  package func keepFollowing(_ keeps: Bool) {
    change { $0.keepFollowing(keeps, with: CancellableTask()) }
  }

  /// Has the list of the request in force made for the consumers that follow, after the fetch of that list failed.
  func followAgain() {
    change { $0.abandonFollowing() }
    if isFollowed { follow() }
  }

  func startFollowing(with handle: CancellableTask) {
    // Detached: it outlives the consumer that happened to wait first.
    let task = Task.detached { [weak self, store = rows.store] in
      while !Task.isCancelled {
        guard let (shown, isBuilt) = self?.state.withLock({ ($0.published?.list.sequence, $0.isBuilt) }),
          let shown
        else { break }
        // The list of another request does not wait for an append.
        if isBuilt {
          do throws(StoreError) { try await store.wait(beyond: shown) } catch {
            self?.followerFailed(handle, with: .store(error))
            return
          }
        }
        guard let self else { return }
        // Without a waiting consumer nothing is folded; the next consumer that waits starts a new task.
        guard isFollowed else { break }
        do { _ = try await fetch(reaching: store.head.sequence) } catch {
          guard let error = ListError(error) else { break }
          return followerFailed(handle, with: error)
        }
      }
      self?.followerStopped(handle)
    }
    handle.hold(task)
  }

  /// Whether the log has to be followed.
  private var isFollowed: Bool { announcement.hasFollowingWaiters || state.withLock { $0.keepsFollowing } }

  private func followerStopped(_ task: CancellableTask) {
    var wasFollowing = false
    change {
      wasFollowing = $0.followerStopped(task)
      return .none
    }
    // A consumer may have begun to wait in between. One task that ends late does not undo the failure of another.
    if wasFollowing, isFollowed { follow() }
  }

  private func followerFailed(_ task: CancellableTask, with error: ListError) {
    change {
      if error.isEnd { $0.followerEnded(task) } else { $0.followerFailed(task, with: error) }
    }
  }

  /// The task that notifies the delegate; nil if there is none.
  var delivery: CancellableTask? { state.withLock { $0.delivery } }

  /// Replaces the delivery; the previous one is cancelled.
  func replaceDelivery(by delivery: CancellableTask?) { change { $0.replaceDelivery(by: delivery) } }
}

extension EventStore {
  /// Waits until an event after a sequence is visible, or until one of several announcements has a greater number.
  func wait(
    beyond sequence: UInt64, or news: [(announcement: Announcement, beyond: AnnouncementNumber)]
  ) async throws(StoreError) {
    let first = await withTaskGroup(of: Result<Void, StoreError>.self) { group in
      group.addTask {
        do throws(StoreError) { return .success(try await self.wait(beyond: sequence)) } catch {
          return .failure(error)
        }
      }
      for (announcement, number) in news {
        group.addTask { .success(await announcement.wait(beyond: number)) }
      }
      defer { group.cancelAll() }
      return await group.next() ?? .success(())
    }
    try first.get()
  }
}
