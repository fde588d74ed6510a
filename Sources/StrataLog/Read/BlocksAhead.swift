// Blocks of the log, read on another thread while the caller works on those before.

internal import StrataBase

/// A position in the log from which blocks are pulled, as from a cursor. During long work, which says so, another thread
/// reads, checks and decompresses the next blocks meanwhile: a few hundred kilobytes of them.
///
/// Belongs to one consumer; every call blocks for as long as the disk takes.
package final class BlocksAhead: @unchecked Sendable {
  // Sendable because the other thread touches only what is behind the gate, and the position while it has the turn.
  private final class Position: @unchecked Sendable {
    // Sendable because only the thread that has the turn touches it.
    var cursor: LogCursor

    init(_ cursor: consuming LogCursor) { self.cursor = cursor }
  }

  private struct State {
    /// Blocks that were read, in the order of the log.
    var blocks: [DecodedBlock] = []
    /// What the read after these blocks threw.
    var failure: StoreError?
    /// Whether a thread has the turn.
    var isReading = false
    /// Whether the other thread goes on.
    var isWanted = false
  }

  private let position: Position
  private let state = Gate(State())
  private let limits: ReadAheadLimits
  /// Blocks that the consumer has taken, in reverse.
  private var taken: [DecodedBlock] = []
  /// The other thread, which only the consumer starts and ends.
  private var thread: DedicatedThread?

  package init(_ cursor: consuming LogCursor, _ limits: ReadAheadLimits) {
    position = Position(cursor)
    self.limits = limits
  }

  /// The next block, nil at the end of what is visible. Throws what `LogCursor.next` throws; the next call tries again.
  package func next() throws(StoreError) -> DecodedBlock? {
    if let block = taken.popLast() { return block }
    let found = state.wait { state -> Result<[DecodedBlock], StoreError>? in
      if !state.blocks.isEmpty {
        defer { state.blocks = [] }
        return .success(state.blocks)
      }
      if let failure = state.failure {
        state.failure = nil
        return .failure(failure)
      }
      if state.isReading { return nil }
      state.isReading = true
      return .success([])
    }
    taken = try found.get()
    guard taken.isEmpty else {
      state.signalAll()
      taken.reverse()
      return taken.popLast()
    }
    defer {
      state.withLock { $0.isReading = false }
      state.signalAll()
    }
    return try position.cursor.next()
  }

  /// Says that the next blocks of this number of events are needed. If that is long work, another thread begins to read
  /// ahead, until `pause`. Where none can be started, the consumer reads everything itself.
  package func begin(events count: UInt64, _ machine: StoreMachine) {
    guard thread == nil, count >= limits.eventCountMin,
      DedicatedThread.processorCount >= limits.processorCountMin
    else { return }
    state.withLock { $0.isWanted = true }
    thread = try? machine.start("strata-ahead") { [self] in read() }
  }

  /// Ends reading ahead. What was read stays for the next call. Waits for the block that is being read.
  package func pause() {
    guard let thread else { return }
    state.withLock { $0.isWanted = false }
    state.signalAll()
    thread.join()
    self.thread = nil
  }

  deinit { assert(thread == nil, "a thread reads blocks that nobody asks for") }

  /// The other thread.
  private func read() {
    while takeTurn() {
      var batch: [DecodedBlock] = []
      var byteCount = 0
      var failure: StoreError?
      var isEnd = false
      while byteCount < limits.byteCount, state.withLock({ $0.isWanted }) {
        do throws(StoreError) {
          guard let block = try position.cursor.next() else {
            isEnd = true
            break
          }
          batch.append(block)
          byteCount += block.raw.count
        } catch {
          failure = error
          break
        }
      }
      state.withLock { state in
        state.isReading = false
        state.blocks += batch
        state.failure = failure
        if isEnd { state.isWanted = false }
      }
      state.signalAll()
    }
  }

  /// Waits until the blocks before were taken. Returns false if there is nothing more to do.
  private func takeTurn() -> Bool {
    state.wait { state -> Bool? in
      guard state.isWanted, state.failure == nil else { return false }
      if state.isReading || !state.blocks.isEmpty { return nil }
      state.isReading = true
      return true
    }
  }
}
