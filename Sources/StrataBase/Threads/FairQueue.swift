// Which work of a few threads is done next: a pure state machine, which is given the time.

/// Long work, in slices.
struct FairJob: Sendable {
  /// Tells it from other work with the same slice, which may begin before this one has given its thread back.
  let number: UInt64
  let slice: TimeSlice
  /// Does one slice. True where there is more to do.
  let step: @Sendable () -> Bool
}

/// Work that waits for a thread and work that has one.
///
/// Work that has a thread is *active*, and at most `activeCountMax` are, until a step of it takes so long that it is
/// *overdue*: then it keeps its thread and counts no longer. Times are nanoseconds of the monotonic clock.
struct FairQueue: Sendable {
  private struct Running {
    let slice: TimeSlice
    let end: Int64
    /// When the work is overdue; nil while nobody waits.
    var due: Int64?
    var isOverdue = false
  }

  let limits: FairThreads.Limits
  private var waiting: [FairJob] = []
  /// Where the first waiting entry is in `waiting`; those before it are taken.
  private var firstWaiting = 0
  /// By the work's number.
  private var running: [UInt64: Running] = [:]
  private var nextNumber: UInt64 = 0
  private var activeCount = 0
  /// How many threads there are, those included that are about to start.
  var threadCount = 0
  /// A thread waits for the moment at which work is overdue.
  var isWatched = false
  var isEnding = false

  init(_ limits: FairThreads.Limits) { self.limits = limits }

  var waitingCount: Int { waiting.count - firstWaiting }
  private var freeCount: Int { limits.activeCountMax - activeCount }

  /// Whether somebody waits who cannot be served now.
  var isContended: Bool { waitingCount > max(0, freeCount) }

  /// Whether there are too few threads for what could be done now, and for the watching of what holds the others up.
  var lacksThread: Bool {
    guard waitingCount > 0, threadCount < limits.threadCountMax else { return false }
    return threadCount - running.count < min(waitingCount, max(0, freeCount)) + (isContended ? 1 : 0)
  }

  /// Whether a thread without work ends: one that watches is kept beside those that are active.
  var hasSpareThread: Bool { threadCount - running.count > limits.activeCountMax + 1 - activeCount }

  /// When the next work is overdue that holds up others.
  var nextDue: Int64? { running.values.lazy.filter { !$0.isOverdue }.compactMap(\.due).min() }

  /// Begins work, behind all that waits.
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

  /// The work that waits longest, where it may be done now.
  mutating func take(at now: Int64) -> FairJob? {
    guard waitingCount > 0, freeCount > 0 else { return nil }
    let job = waiting[firstWaiting]
    waiting[firstWaiting] = FairJob(number: 0, slice: job.slice) { false }
    firstWaiting += 1
    // Half of the array and more is taken: moving the rest costs less than what was taken.
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

  /// Takes waiting work out. O(what waits).
  mutating func remove(_ slice: TimeSlice) {
    waiting.removeFirst(firstWaiting)
    firstWaiting = 0
    waiting.removeAll { $0.slice === slice }
  }

  /// A slice has ended; the work goes behind all others where there is more of it.
  mutating func finish(_ job: FairJob, isMore: Bool, at now: Int64) {
    if let work = running.removeValue(forKey: job.number), !work.isOverdue {
      activeCount -= 1
    }
    if isMore { add(job, at: now) }
  }

  /// Counts work no longer that is overdue, so that others get their turn.
  mutating func passOverdue(at now: Int64) {
    for (number, work) in running where !work.isOverdue {
      guard let due = work.due, due <= now else { continue }
      running[number]?.isOverdue = true
      activeCount -= 1
    }
  }
}
