// Following the log for those who wait, and how that ends.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension FetchController {
  /// Sees to it that somebody follows the log while there are iterations that wait.
  func follow() {
    let store = rows.store
    state.withLock { state in
      guard state.follower == nil, !state.isCancelled, !state.isEnded else { return }
      // Detached: it outlives whoever happened to wait first.
      state.follower = Task.detached { [weak self] in
        following: while !Task.isCancelled {
          guard let shown = self?.published?.snapshot.sequence else { break }
          do throws(StoreError) {
            try await store.wait(beyond: shown)
          } catch {
            self?.end(with: error)
            return
          }
          guard let self else { return }
          // Where nobody waits any more nothing is folded; the next one who waits begins anew.
          guard announcement.hasWaiters else { break }
          do throws(ListError) { _ = try await fetch(reaching: store.head.sequence) } catch {
            if case .store(let error) = error { return end(with: error) }
            if case .cancelled = error { break following }
            return fail(with: error)
          }
        }
        self?.stopFollowing()
      }
    }
  }

  private func stopFollowing() {
    state.withLock { $0.follower = nil }
    // Somebody may have begun to wait in between.
    if announcement.hasWaiters { follow() }
  }

  private func end(with error: StoreError) {
    guard error == .closed else { return fail(with: .store(error)) }
    state.withLock { state in
      state.isEnded = true
      state.follower = nil
    }
    announcement.announce()
  }

  /// Tells all iterations that there are now that the list cannot go on. One that begins later tries again.
  func fail(with error: ListError) {
    state.withLock { state in
      state.failure = error
      state.failureCount += 1
      state.follower = nil
    }
    announcement.announce()
  }

  /// Puts another delivery in the place of the one that there was; that one is cancelled.
  func replaceDelivery(by delivery: UpdateDelivery?) {
    let (old, isCancelled) = state.withLock { state in
      defer { if !state.isCancelled { state.delivery = delivery } }
      return (state.delivery, state.isCancelled)
    }
    old?.cancel()
    if isCancelled { delivery?.cancel() }
  }
}

extension EventStore {
  /// Waits until something visible stands behind a sequence, or until one of several announcements has a greater number.
  func wait(
    beyond sequence: UInt64, or news: [(announcement: Announcement, beyond: UInt64)]
  ) async throws(StoreError) {
    let first = await withTaskGroup(of: Result<Void, StoreError>.self) { group in
      group.addTask {
        do throws(StoreError) { return .success(try await self.wait(beyond: sequence)) } catch {
          return .failure(error)
        }
      }
      for (announcement, number) in news {
        group.addTask { .success(await announcement.wait(beyond: number) {}) }
      }
      defer { group.cancelAll() }
      return await group.next() ?? .success(())
    }
    try first.get()
  }
}
