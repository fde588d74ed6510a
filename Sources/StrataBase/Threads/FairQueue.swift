// The queue of FairThreads: a pure state machine that decides which work runs next. It is given the time.

/// A piece of long work that is done in slices.
struct FairJob: Sendable {
  /// Distinguishes this from other work with the same slice, which may begin before this one has released its thread.
  let number: UInt64
  let slice: TimeSlice
  /// Does one slice of the work. True if there is more to do.
  let step: @Sendable () -> Bool
}

/// The work that waits for a thread, and the work that has one.
///
/// Work that has a thread is *active*, and at most `activeCountMax` pieces of work are. A piece whose step takes too
/// long while others wait becomes *overdue*: it keeps its thread, but is no longer counted as active. Times are
/// nanoseconds of the monotonic clock.
struct FairQueue: Sendable {
  private struct Running {
    let slice: TimeSlice
    let end: Int64
    /// The time at which the work becomes overdue; nil while no other work waits.
    var due: Int64?
    var isOverdue = false
    var isGivenUp = false
  }

  let limits: FairThreads.Limits
  private var waiting: [FairJob] = []
  /// The index in `waiting` of the first entry that still waits; those before it have been taken.
  private var firstWaiting = 0
  /// By the work's number.
  private var running: [UInt64: Running] = [:]
  private var nextNumber: UInt64 = 0
  private var activeCount = 0
  /// The number of pieces of work that were given up and have not returned.
  private var givenUpCount = 0
  /// The number of threads, including those that are about to start.
  var threadCount = 0
  /// True while a thread waits for the moment at which work becomes overdue.
  var isWatched = false
  var isEnding = false

  init(_ limits: FairThreads.Limits) { self.limits = limits }

  var waitingCount: Int { waiting.count - firstWaiting }
  private var freeCount: Int { limits.activeCountMax - activeCount }

  /// Whether some work waits that cannot begin now.
  var isContended: Bool { waitingCount > max(0, freeCount) }

  /// Whether there are too few threads for the work that could begin now, plus one to watch the active work if other
  /// work has to wait.
  var lacksThread: Bool {
    guard waitingCount > 0, threadCount < limits.threadCountMax + givenUpCount else { return false }
    return threadCount - running.count < min(waitingCount, max(0, freeCount)) + (isContended ? 1 : 0)
  }

  /// Whether an idle thread should end. One thread is kept in addition to the active ones, to watch them.
  var hasSpareThread: Bool { threadCount - running.count > limits.activeCountMax + 1 - activeCount }

  /// The earliest time at which active work becomes overdue; nil if no other work waits.
  var nextDue: Int64? { running.values.lazy.filter { !$0.isOverdue }.compactMap(\.due).min() }

  /// Adds new work at the end of the queue.
  mutating func begin(_ slice: TimeSlice, at now: Int64, _ step: @escaping @Sendable () -> Bool) {
    nextNumber += 1
    add(FairJob(number: nextNumber, slice: slice, step: step), at: now)
  }

  private mutating func add(_ job: FairJob, at now: Int64) {
    waiting.append(job)
    guard isContended else { return }
    for (number, work) in running where work.due == nil {
      work.slice.contend()
      running[number]?.due = max(now, work.end) + limits.patienceNanoseconds
    }
  }

  /// Takes the work that has waited longest; nil if no work waits, or none may begin now.
  mutating func take(at now: Int64) -> FairJob? {
    guard waitingCount > 0, freeCount > 0 else { return nil }
    let job = waiting[firstWaiting]
    waiting[firstWaiting] = FairJob(number: 0, slice: job.slice) { false }
    firstWaiting += 1
    // At least half of the entries have been taken, so moving the rest costs less than taking them did.
    if firstWaiting * 2 >= waiting.count {
      waiting.removeFirst(firstWaiting)
      firstWaiting = 0
    }
    let end = now + limits.sliceNanoseconds
    job.slice.begin(until: end)
    var work = Running(slice: job.slice, end: end)
    if waitingCount > 0 {
      job.slice.contend()
      work.due = end + limits.patienceNanoseconds
    }
    running[job.number] = work
    activeCount += 1
    return job
  }

  /// Removes waiting work. O(waiting entries).
  mutating func remove(_ slice: TimeSlice) {
    waiting.removeFirst(firstWaiting)
    firstWaiting = 0
    waiting.removeAll { $0.slice === slice }
  }

  /// Records the end of a slice. If there is more to do, the work goes to the end of the queue.
  mutating func finish(_ job: FairJob, isMore: Bool, at now: Int64) {
    if let work = running.removeValue(forKey: job.number) {
      if !work.isOverdue { activeCount -= 1 }
      if work.isGivenUp { givenUpCount -= 1 }
    }
    if isMore { add(job, at: now) }
  }

  /// Lets another thread take the place of the one that runs a piece of work.
  mutating func giveUp(_ slice: TimeSlice) {
    for (number, work) in running where work.slice === slice && !work.isGivenUp {
      if !work.isOverdue { activeCount -= 1 }
      running[number]?.isOverdue = true
      running[number]?.isGivenUp = true
      givenUpCount += 1
    }
  }

  /// Marks overdue work, which is then no longer counted as active, so that other work can begin.
  mutating func passOverdue(at now: Int64) {
    for (number, work) in running where !work.isOverdue {
      guard let due = work.due, due <= now else { continue }
      running[number]?.isOverdue = true
      activeCount -= 1
    }
  }
}
