// Following the log for those who wait, and how that ends.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension FetchController {
  /// Sees to it that somebody follows the log while there are consumers that wait.
  func follow() { change { $0.follow(with: CancellableTask()) } }

  /// Has the log followed also while nobody waits, or only for those who do.
  package func keepFollowing(_ keeps: Bool) {
    change { $0.keepFollowing(keeps, with: CancellableTask()) }
  }

  func startFollowing(with handle: CancellableTask) {
    // Detached: it outlives whoever happened to wait first.
    let task = Task.detached { [weak self, store = rows.store] in
      while !Task.isCancelled {
        guard let shown = self?.state.withLock({ $0.published?.list.sequence }) else { break }
        do throws(StoreError) {
          try await store.wait(beyond: shown)
        } catch {
          self?.followerFailed(handle, with: .store(error))
          return
        }
        guard let self else { return }
        // Where nobody wants it any more nothing is folded; the next one who waits begins anew.
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

  /// Whether somebody wants the log followed.
  private var isFollowed: Bool { announcement.hasFollowingWaiters || state.withLock { $0.keepsFollowing } }

  private func followerStopped(_ task: CancellableTask) {
    change {
      $0.followerStopped(task)
      return .none
    }
    // Somebody may have begun to wait in between.
    if isFollowed { follow() }
  }

  private func followerFailed(_ task: CancellableTask, with error: ListError) {
    change {
      if error.isEnd { $0.followerEnded(task) } else { $0.followerFailed(task, with: error) }
    }
  }

  /// Puts another delivery in the place of the one that there was; that one is cancelled.
  func replaceDelivery(by delivery: CancellableTask?) { change { $0.replaceDelivery(by: delivery) } }
}

extension EventStore {
  /// Waits until something visible stands behind a sequence, or until one of several announcements has a greater number.
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
