// Loading: many appends in order, without waiting for each.

internal import StrataBase
internal import StrataLog

extension EventStore {
  /// Appends everything that a sequence delivers, in its order, without waiting for each append: what an import needs to
  /// be as fast as the disk.
  ///
  /// Each element becomes one append, as by `append`. The first one that is refused ends the load, and nothing after it
  /// is appended, so that the log never has a later one without an earlier one. Appends of other callers go on meanwhile,
  /// and may come in between.
  ///
  /// The sequence is asked for its next element only while less than half of `pendingBytesMax`, and at most 8 MiB, of the
  /// load is in progress, and while other appends leave room. The load blocks no thread. When it returns or throws,
  /// whatever was taken from the sequence is on disk or refused.
  ///
  /// A cancelled load takes no further element, and throws `CancellationError` once what it took is on disk. So does a
  /// sequence that throws end it, with its own error. With ids, the same load can be repeated: what the store has is
  /// counted and not appended again.
  ///
  /// ```swift
  /// func copy(_ lines: AsyncStream<[String]>, into store: EventStore) async throws {
  ///   let appends = lines.map { words in
  ///     NewAppend([NewEvent("measured", in: "sensor/\(words[0])", ["value": .string(words[1])])], id: words[2])
  ///   }
  ///   let receipt = try await store.load(appends)
  ///   print(receipt.appendCount, "are new,", receipt.knownCount, "were there")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - durableEvery: after how many appends the load waits until all of them are on disk, and calls `reached`; positive.
  ///     Nil for once, at the end. A smaller number costs speed.
  ///   - reached: called with all that is on disk, each time, and once more before the load returns or throws.
  /// - Throws: `LoadError` with the index of the first append that was refused, why, and what is on disk;
  ///   `StoreError` if the store is open for reading; `CancellationError`; what the sequence throws.
  @discardableResult
  public nonisolated(nonsending) func load<Appends: AsyncSequence>(
    _ appends: Appends, durableEvery: Int? = nil, reached: (LoadReceipt) -> Void = { _ in }
  ) async throws -> LoadReceipt where Appends.Element == NewAppend {
    try await load(appends, durableEvery: durableEvery, reached: reached) { load, append in
      load.submit(blocks: false) { () throws(StoreError) in try draft(append) }
    }
  }

  /// Loads the appends of a sequence that is there already, as `load` does.
  @discardableResult
  public nonisolated(nonsending) func load(
    _ appends: some Sequence<NewAppend>, durableEvery: Int? = nil, reached: (LoadReceipt) -> Void = { _ in }
  ) async throws -> LoadReceipt {
    try await load(StepwiseSequence(appends), durableEvery: durableEvery, reached: reached)
  }

  /// Loads appends as `load` does, and blocks the calling thread. Do not call it on the cooperative pool.
  ///
  /// - Throws: `LoadError`, or `StoreError` if the store is open for reading.
  @discardableResult
  public func loadBlocking(
    _ appends: some Sequence<NewAppend>, durableEvery: Int? = nil, reached: (LoadReceipt) -> Void = { _ in }
  ) throws -> LoadReceipt {
    var load = try BulkLoad(into: self, durableEvery: durableEvery)
    defer { reached(load.durable) }
    for append in appends {
      guard load.submit(blocks: true, { () throws(StoreError) in try draft(append) }) else { break }
      guard load.isDue else { continue }
      try settleBlocking(&load)
      reached(load.durable)
    }
    try settleBlocking(&load)
    return load.durable
  }

  private func settleBlocking(_ load: inout BulkLoad) throws {
    let progress = load.run.drain()
    try load.settle(progress, synced: Result { () throws(StoreError) in try log.syncBuffered() })
  }

  private func draft(_ append: NewAppend) throws(StoreError) -> AppendDraft {
    try draft(append.events, id: append.id, time: append.time, expecting: append.expecting)
  }

  /// Loads elements of any kind, each by a step that submits an append and returns false if it is refused.
  nonisolated(nonsending) func load<Elements: AsyncSequence>(
    _ elements: Elements, durableEvery: Int?, reached: (LoadReceipt) -> Void,
    step: nonisolated(nonsending) (inout BulkLoad, Elements.Element) async throws -> Bool
  ) async throws -> LoadReceipt {
    var load = try BulkLoad(into: self, durableEvery: durableEvery)
    defer { reached(load.durable) }
    var ending: (any Error)?
    /// Whether an error is that of this load, and not of what the sequence does, which may be a load of its own.
    var isSettling = false
    do {
      try Task.checkCancellation()
      for try await element in elements {
        guard try await step(&load, element) else { break }
        if load.isDue {
          isSettling = true
          try await settle(&load)
          isSettling = false
          reached(load.durable)
        }
        await load.run.room(below: load.bytesMax)
        try Task.checkCancellation()
      }
    } catch {
      if isSettling { throw error }
      ending = error
    }
    // What was submitted before comes first, and so does its failure.
    try await settle(&load)
    if let ending { throw ending }
    // A sequence may end, and throw nothing, because the task was cancelled: it is then not known to be complete.
    try Task.checkCancellation()
    return load.durable
  }

  private nonisolated(nonsending) func settle(_ load: inout BulkLoad) async throws {
    let progress = await load.run.drained()
    var synced: Result<Void, StoreError> = .success(())
    if log.mark.durable.sequence < log.mark.sequence {
      // A sync blocks, and the shared threads serve reads.
      let thread = machine.thread("strata-load")
      synced = await thread.result { [log] () throws(StoreError) in try log.syncBuffered() }
    }
    try load.settle(progress, synced: synced)
  }
}

/// A sequence that is there already, as one that lets other tasks run now and then.
private struct StepwiseSequence<Base: Sequence>: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    var base: Base.Iterator
    var count = 0

    mutating func next() async -> Base.Element? { await next(isolation: nil) }

    mutating func next(isolation actor: isolated (any Actor)?) async -> Base.Element? {
      count += 1
      if count.isMultiple(of: 256) { await Task.yield() }
      return base.next()
    }
  }

  let base: Base

  init(_ base: Base) { self.base = base }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeIterator()) }
}
