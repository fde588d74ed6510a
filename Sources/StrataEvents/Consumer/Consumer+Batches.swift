// Handling several appends with one append for all of their effects.

internal import StrataLog

extension Consumer {
  typealias Handle = (RecordedAppend, inout WriteBatch) async throws -> Void

  /// Handles appends that wait. If the task is cancelled, the rest of them is left for the next run.
  nonisolated(nonsending) func pass(
    _ appends: [RecordedAppend], _ ledger: ConsumerLedger, _ handle: Handle
  ) async throws {
    guard options.batchCount > 1, appends.count > 1 else {
      return try await passEach(appends[...], ledger, handle)
    }
    var (start, pending) = (0, ConsumerBatch(batchLimits))
    for (index, append) in appends.enumerated() {
      if Task.isCancelled { break }
      var batch = WriteBatch(store: store)
      do { try await handle(append, &batch) } catch {
        guard isEnd(error) else {
          try await passEach(appends[start...index], ledger, handle)
          (start, pending) = (index + 1, ConsumerBatch(batchLimits))
          continue
        }
        try? await flush(pending, of: appends[start..<index], ledger, handle)
        throw error
      }
      if !pending.hasRoom(for: batch) {
        try await flush(pending, of: appends[start..<index], ledger, handle)
        (start, pending) = (index, ConsumerBatch(batchLimits))
      }
      if pending.isEmpty, batch.events.isEmpty {
        // Without effects before it, there is nothing to batch.
        start = index + 1
        try await pass(append, ConsumerLedger.Effects(), ledger)
        continue
      }
      guard pending.add(append, batch) else {
        try await passEach(appends[start...index], ledger, handle)
        (start, pending) = (index + 1, ConsumerBatch(batchLimits))
        continue
      }
      var isFull = pending.isFull
      if !isFull, batch.events.isEmpty {
        // At most `saveCount` appends without effects are handled again after a kill.
        isFull = await ledger.unsavedCount + pending.idleCount >= options.saveCount
      }
      guard isFull else { continue }
      try await flush(pending, of: appends[start...index], ledger, handle)
      (start, pending) = (index + 1, ConsumerBatch(batchLimits))
    }
    try await flush(pending, of: appends[start...], ledger, handle)
  }

  private var batchLimits: ConsumerBatch.Limits {
    let log = store.log.options
    // The position is in the same append, and its event has the causes: at most twelve bytes for two of their numbers.
    return ConsumerBatch.Limits(
      count: options.batchCount, size: log.appendSizeMax - min(log.appendSizeMax, 128 << 10),
      causeCount: max(2, min(log.payloadSizeMax / 4, 64 << 10) / 6))
  }

  /// Appends what is pending, or handles its appends again, each on its own, if the store refuses it.
  private nonisolated(nonsending) func flush(
    _ pending: ConsumerBatch, of appends: ArraySlice<RecordedAppend>, _ ledger: ConsumerLedger,
    _ handle: Handle
  ) async throws {
    guard let last = pending.last else { return }
    let effects = pending.whole
    if Task.isCancelled {
      // What was handled is appended all the same, or handled again by the next run.
      _ = await Task { try await ledger.pass(last, with: effects) }.result
      return
    }
    do { try await pass(last, effects, ledger) } catch is Refusal {
      try await passEach(appends, ledger, handle)
    }
  }

  private nonisolated(nonsending) func passEach(
    _ appends: ArraySlice<RecordedAppend>, _ ledger: ConsumerLedger, _ handle: Handle
  ) async throws {
    for append in appends {
      if Task.isCancelled { return }
      try await pass(append, ledger, handle)
    }
  }
}
