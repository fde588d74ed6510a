// How what a store does reaches its observer, and those who iterate over it.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ObservationTests {
  private static func activity(_ number: Int) -> StoreActivity {
    .stateSaved(projection: "p", sequence: UInt64(number), byteCount: 1)
  }

  private static func observation(_ observer: RecordingObserver?) -> StoreObservation {
    var options = StoreOptions()
    options.observer = observer
    return StoreObservation(options)
  }

  private static func append(_ log: Log) throws {
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "a", type: "t", payload: [1])]).draft())
  }

  // MARK: The observer

  @Test func `an observer receives everything in order, one call at a time`() {
    let observer = RecordingObserver()
    let observation = Self.observation(observer)
    let all = (0..<500).map(Self.activity)
    for activity in all { observation.note(activity) }
    observer.wait { $0 == all.last }
    #expect(observer.activities == all)
    #expect(observer.received.withLock { $0.runningMax } == 1)
    #expect(observation.counters.statistics.droppedCount == 0)
  }

  @Test func `what an observer has no room for is dropped and counted, and said once there is room`() {
    let observer = RecordingObserver()
    observer.hold(true)
    let observation = Self.observation(observer)
    let count = 3 * StoreObservation.queueMax
    for number in 0..<count { observation.note(Self.activity(number)) }
    observer.hold(false)
    let last = Self.activity(count)
    observer.wait {
      if case .missed = $0 { true } else { false }
    }
    observation.note(last)
    observer.wait { $0 == last }
    let received = observer.activities
    let delivered = received.filter { if case .missed = $0 { false } else { true } }
    let missed = received.reduce(UInt64(0)) { sum, activity in
      if case .missed(let count) = activity { sum + count } else { sum }
    }
    #expect(missed > 0 && missed == observation.counters.statistics.droppedCount)
    #expect(UInt64(delivered.count) + missed == UInt64(count + 1))
    // Nothing is delivered twice, or out of order.
    let numbers = delivered.map { activity -> UInt64 in
      if case .stateSaved(_, let number, _) = activity { number } else { .max }
    }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    // It never waits for more than the queue and what the thread had taken.
    #expect(delivered.count <= 2 * StoreObservation.queueMax + 1)
  }

  @Test func `steps leave room for activities`() {
    let observer = RecordingObserver()
    observer.hold(true)
    let observation = Self.observation(observer)
    // The thread takes this one, and what comes with it, and is held up.
    observation.note(Self.activity(0))
    observer.received.wait { $0.running == 1 }
    for _ in 0..<2 * StoreObservation.queueMax { observation.note(.fetch, since: .now()) }
    let dropped = observation.counters.statistics.droppedCount
    #expect(dropped == UInt64(2 * StoreObservation.queueMax - StoreObservation.queuedStepsMax))
    for number in 1...100 { observation.note(Self.activity(number)) }
    #expect(observation.counters.statistics.droppedCount == dropped)
    observer.hold(false)
    observer.wait { $0 == Self.activity(100) }
    #expect(observer.activities.contains(.missed(dropped)))
    #expect(observer.received.withLock { $0.works.count } == StoreObservation.queuedStepsMax)
  }

  /// A log that its own observer calls.
  private final class Held: Sendable {
    let log = Lock<Log?>(nil)
  }

  @Test func `an observer may append, roll, look and close, and holds up nobody`() throws {
    let held = Held()
    let calls = Gate(0)
    let observer = RecordingObserver(body: { activity in
      guard case .slowSync = activity, let log = held.log.withLock({ $0 }) else { return }
      let number = calls.withLock { calls in
        calls += 1
        return calls
      }
      switch number {
      case 1: _ = try? log.appendBlocking(ModelAppend([ModelEvent(stream: "b", type: "t")]).draft())
      case 2: try? log.roll()
      case 3: _ = try? log.gauges()
      case 4: _ = try? log.seal()
      case 5: try? log.close()
      default: break
      }
      calls.signalAll()
    })
    var options = StoreOptions.still()
    options.observer = observer
    // So that each sync is an activity.
    options.slowSyncMin = .zero
    let log = try Log.openWriter(SimulatedDisk(), path: "/store", options: options)
    held.log.withLock { $0 = log }
    var appended = 0
    while true {
      do { try Self.append(log) } catch {
        #expect(error as? StoreError == .closed)
        break
      }
      appended += 1
      // As fast as the observer: it is the one that closes.
      let done = appended
      calls.wait { $0 >= min(done, 5) }
    }
    #expect(appended >= 5 || calls.withLock { $0 } >= 5)
    #expect(log.mark.sequence >= UInt64(appended))
    held.log.withLock { $0 = nil }
  }

  @Test func `a group is a step with its appends, events, bytes and sync`() throws {
    let observer = RecordingObserver()
    var options = StoreOptions.still()
    options.observer = observer
    let log = try Log.openWriter(SimulatedDisk(), path: "/store", options: options)
    var source = RandomAppends(seed: 8)
    for _ in 0..<20 { _ = try log.appendBlocking(source.append().draft()) }
    let counted = log.observation.counters.statistics
    observer.received.wait { $0.works.count == 20 }
    var sum = StoreStatistics()
    for work in observer.received.withLock({ $0.works }) {
      guard case .commit(let appends, let events, let bytes, let sync) = work else { continue }
      #expect(appends == 1 && sync > .zero)
      (sum.appendCount, sum.eventCount) = (sum.appendCount + appends, sum.eventCount + events)
      sum.byteCount += bytes
    }
    #expect(sum.appendCount == counted.appendCount && sum.eventCount == counted.eventCount)
    #expect(sum.byteCount == counted.byteCount)
    try log.close()
  }

  // MARK: Iterating

  @Test func `an iterator begins with what was before it, and ends with the store`() async {
    let observation = Self.observation(nil)
    for number in 0..<3 { observation.note(Self.activity(number)) }
    let task = Task {
      var received: [StoreActivity] = []
      for await activity in StoreActivities(observation) { received.append(activity) }
      return received
    }
    for number in 3..<6 { observation.note(Self.activity(number)) }
    observation.end()
    #expect(await task.value == (0..<6).map(Self.activity))
  }

  @Test func `an iterator that lags receives how many it missed`() async {
    let observation = Self.observation(nil)
    var iterator = StoreActivities(observation).makeAsyncIterator()
    observation.note(Self.activity(0))
    #expect(await iterator.next() == Self.activity(0))
    for number in 1...StoreObservation.keptMax + 10 { observation.note(Self.activity(number)) }
    #expect(await iterator.next() == .missed(10))
    #expect(await iterator.next() == Self.activity(11))
    for number in 12...StoreObservation.keptMax + 10 {
      #expect(await iterator.next() == Self.activity(number))
    }
    observation.end()
    #expect(await iterator.next() == nil)
  }

  @Test func `a cancelled task's iteration ends, and others go on`() async {
    let observation = Self.observation(nil)
    func count() -> Task<Int, Never> {
      Task {
        var count = 0
        for await _ in StoreActivities(observation) { count += 1 }
        return count
      }
    }
    let (cancelled, other) = (count(), count())
    cancelled.cancel()
    #expect(await cancelled.value == 0)
    observation.note(Self.activity(1))
    observation.end()
    #expect(await other.value == 1)
  }

  @Test func `clocks are read while somebody iterates, and no longer`() {
    let observation = Self.observation(nil)
    #expect(observation.now == nil)
    do {
      let iterator = StoreActivities(observation).makeAsyncIterator()
      #expect(observation.now != nil)
      withExtendedLifetime(iterator) {}
    }
    #expect(observation.now == nil)
  }

  // MARK: Activities of a log

  @Test func `a sync that fails is an activity, and the store says that it is poisoned`() throws {
    let observer = RecordingObserver()
    var options = StoreOptions.still()
    options.observer = observer
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: "/store", options: options)
    try Self.append(log)
    disk.inject(SimulatedSyncFailure(keepsData: false, isReported: true, pathSuffix: ".seg"))
    #expect(throws: StoreError.self) { try Self.append(log) }
    let poisoned = StoreActivity.poisoned(try #require(log.tail.end))
    observer.wait { $0 == poisoned }
    #expect(throws: StoreError.self) { try log.close() }
  }

  @Test func `each cut tail is an activity, after that of the open`() throws {
    let disk = SimulatedDisk()
    let layout = StoreLayout(root: "/store")
    let first = try Log.openWriter(disk, path: "/store", options: .still())
    try Self.append(first)
    try first.close()
    let path = layout.segment(SegmentName(1))
    disk.replace(path, disk.contents(path)! + [1, 2, 3])
    disk.delete(layout.head)
    let observer = RecordingObserver()
    var options = StoreOptions.still()
    options.observer = observer
    let log = try Log.openWriter(disk, path: "/store", options: options)
    let found = try #require(log.observation.recovery)
    try Self.append(log)
    let cut = try #require(log.observation.recovery)
    observer.wait { $0 == .tailCut(cut) }
    #expect(observer.activities == [.tailFound(found), .tailCut(cut)])
    #expect(found.keptPath == nil && cut.keptPath != nil && found.byteCount == 3)
    try log.close()
  }
}
