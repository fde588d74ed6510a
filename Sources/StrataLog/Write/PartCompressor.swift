// Compresses the parts of a large group's blocks on several threads.

internal import StrataBase
internal import Synchronization

/// The threads that compress parts of payloads beside the thread that frames a group.
///
/// Its cycle: the framing thread begins a group, adds the parts of each block as soon as the block is complete, and goes
/// on framing. At the end it takes parts itself until none is left, and waits for those that the other threads still
/// have. Up to three threads start with the first large group, and end when there was none for a while: most stores never
/// have one.
///
/// `state` has its own lock. `calls` is atomic, so that a thread can look for parts without it. The framing thread keeps
/// the memory of all parts until `finish` has returned.
final class PartCompressor: Sendable {
  /// A part to be compressed.
  private struct Job: @unchecked Sendable {
    // Safe to send: see above.
    var raw: UnsafeRawBufferPointer
    var target: UnsafeMutableRawPointer
  }

  private struct State {
    var jobs: [Job] = []
    var parts: [CompressedPart?] = []
    /// How many of the jobs were taken, and how many are done.
    var takenCount = 0
    var doneCount = 0
    /// Whether a group is being framed, to which parts may be added.
    var isFraming = false
    /// Whether a thread has looked for the first parts of the group without sleeping.
    var isWatched = false
    var threadCount = 0
    var isStopped = false
  }

  private let state = Gate(State())
  private let calls = Atomic<Int>(0)
  private let machine: StoreMachine
  private let threadCountMax: Int
  /// How long a thread sleeps before it ends.
  private let idleMax: Duration

  /// How long a thread looks for parts without sleeping, once a group was begun.
  private static let watchMax: Duration = .microseconds(100)

  /// - Parameter threadCountMax: how many threads there are at most beside the one that frames; with none, all parts are
  ///   compressed when the group ends.
  init(
    on machine: StoreMachine, threadCountMax: Int = min(3, DedicatedThread.processorCount - 1),
    idleMax: Duration = .seconds(5)
  ) {
    self.machine = machine
    self.threadCountMax = threadCountMax
    self.idleMax = idleMax
  }

  // MARK: The framing thread

  /// Begins a group.
  func begin() {
    let starts = state.withLock { state in
      assert(!state.isFraming && state.jobs.isEmpty, "one group is framed at a time")
      state.isFraming = true
      let starts = state.isStopped ? 0 : threadCountMax - state.threadCount
      state.threadCount += starts
      return starts
    }
    call()
    for _ in 0..<starts {
      if (try? machine.start("strata-pack", { self.run() })) == nil { endThread() }
    }
  }

  /// Adds the parts of a payload, which are compressed into `target`: of `room` bytes.
  func add(_ payload: UnsafeRawBufferPointer, into target: UnsafeMutableRawPointer) {
    let count = CompressedPart.count(in: payload.count)
    var target = target
    state.withLock { state in
      for number in 0..<count {
        let range = CompressedPart.range(number, of: count, in: payload.count)
        state.jobs.append(Job(raw: UnsafeRawBufferPointer(rebasing: payload[range]), target: target))
        state.parts.append(nil)
        target += Compression.bound(range.count)
      }
    }
    call()
  }

  /// How many bytes `add` needs for the parts of a payload.
  static func room(for length: Int) -> Int {
    let count = CompressedPart.count(in: length)
    return (0..<count).reduce(0) {
      $0 + Compression.bound(CompressedPart.range($1, of: count, in: length).count)
    }
  }

  /// Ends the group, and returns its parts in the order in which they were added.
  func finish() -> [CompressedPart] {
    while let (number, job) = take() { compress(number, job) }
    let start = MonotonicTime.now()
    while !state.withLock({ $0.doneCount == $0.jobs.count }), start.elapsed < Self.watchMax {
      for _ in 0..<32 { DedicatedThread.relax() }
    }
    return state.wait { state in
      guard state.doneCount == state.jobs.count else { return nil }
      defer {
        state.jobs.removeAll(keepingCapacity: true)
        state.parts.removeAll(keepingCapacity: true)
        (state.takenCount, state.doneCount, state.isFraming, state.isWatched) = (0, 0, false, false)
      }
      let parts = state.parts.compactMap { $0 }
      assert(parts.count == state.jobs.count, "each job has made its part")
      return parts
    }
  }

  /// Ends the threads. Parts are compressed by the framing thread alone from then on.
  func stop() {
    state.withLock { $0.isStopped = true }
    call()
    state.wait { $0.threadCount == 0 }
  }

  /// Continues after a suspension.
  func reopen() { state.withLock { $0.isStopped = false } }

  private func call() {
    calls.add(1, ordering: .releasing)
    state.signalAll()
  }

  // MARK: The other threads

  private func run() {
    while true {
      let seen = calls.load(ordering: .acquiring)
      if let (number, job) = take() {
        compress(number, job)
        continue
      }
      if mayWatch() {
        let start = MonotonicTime.now()
        while calls.load(ordering: .acquiring) == seen, start.elapsed < Self.watchMax {
          DedicatedThread.relax()
        }
        if calls.load(ordering: .acquiring) != seen { continue }
      }
      let isCalled = state.wait(timeout: idleMax) { state in
        // Parts are added under the lock: a call that comes just before the thread sleeps is not missed.
        state.isStopped || state.takenCount < state.jobs.count || calls.load(ordering: .relaxed) != seen
      }
      let ends = state.withLock { state in state.isStopped || !isCalled && state.jobs.isEmpty }
      if ends { return endThread() }
    }
  }

  /// Whether parts may be added soon: a group was begun, and none of its blocks is complete. One thread polls for them,
  /// because to wake it takes about as long as to decide about an append.
  private func mayWatch() -> Bool {
    state.withLock { state in
      guard state.isFraming, state.jobs.isEmpty, !state.isWatched else { return false }
      state.isWatched = true
      return true
    }
  }

  private func endThread() {
    state.withLock { $0.threadCount -= 1 }
    state.signalAll()
  }

  private func take() -> (number: Int, Job)? {
    state.withLock { state in
      guard state.takenCount < state.jobs.count else { return nil }
      defer { state.takenCount += 1 }
      return (state.takenCount, state.jobs[state.takenCount])
    }
  }

  private func compress(_ number: Int, _ job: Job) {
    let part = CompressedPart(job.raw, into: job.target)
    let isLast = state.withLock { state in
      state.parts[number] = part
      state.doneCount += 1
      return state.doneCount == state.jobs.count
    }
    if isLast { state.signalAll() }
  }
}
