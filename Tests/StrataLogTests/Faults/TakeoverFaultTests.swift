// Fault 52: a writer is stopped between two calls, LOCK is replaced, another one takes the store over, and the first
// goes on. A machine that sleeps, and a tool that copies files over a store, do that.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct TakeoverFaultTests {
  /// What the writers acknowledged, whoever of them it was.
  private final class Acknowledged: Sendable {
    private let appends = Lock<[ModelAppend]>([])

    func add(_ append: ModelAppend, _ outcome: AppendOutcome) {
      var append = append
      append.first = outcome.first
      appends.withLock { $0.append(append) }
    }

    var all: [ModelAppend] { appends.withLock { $0 } }
  }

  /// The second writer: what it does when it takes the store over, and what it does once the first one has gone on.
  private struct Second {
    var closesAtOnce: Bool
    var log: Log?
  }

  private static func append(_ text: String) -> ModelAppend {
    ModelAppend([ModelEvent(stream: text, type: "t", payload: Array(repeating: UInt8(text.count), count: 90))]
    )
  }

  /// One life of a writer across groups, rolls and a seal, with the store taken over before the call with this number.
  /// - Returns: false where the life has fewer calls.
  private func takeOver(
    before number: Int, _ options: StoreOptions, closesAtOnce: Bool, _ acknowledged: Acknowledged
  ) throws -> Bool {
    let disk = SimulatedDisk()
    let root = FaultStore.root
    // The store is there and closed cleanly before either of them comes.
    let before = try Log.openWriter(disk, path: root, options: options, storeID: FaultStore.storeID)
    acknowledged.add(Self.append("before"), try before.appendBlocking(Self.append("before").draft()))
    try before.close()

    let calls = Lock((count: 0, isTaken: false))
    let second = Lock(Second(closesAtOnce: closesAtOnce))
    let isFirstOpen = Lock(false)
    let wasOpenAtTakeover = Lock(false)
    disk.onOperation { [weak disk] _ in
      let isNow = calls.withLock { calls in
        calls.count += calls.isTaken ? 0 : 1
        guard calls.count == number, !calls.isTaken else { return false }
        calls.isTaken = true
        return true
      }
      guard isNow, let disk else { return .proceed }
      wasOpenAtTakeover.withLock { $0 = isFirstOpen.withLock { $0 } }
      do {
        try? disk.remove(FaultStore.layout.lock)
        let log = try Log.openWriter(disk, path: root, options: options)
        for turn in 0..<3 {
          let append = Self.append("second \(turn)")
          acknowledged.add(append, try log.appendBlocking(append.draft()))
        }
        if closesAtOnce {
          try log.close()
        } else {
          // A seal gives closed segments other files, which would keep them safe by itself.
          _ = try log.seal()
          second.withLock { $0.log = log }
        }
      } catch { Issue.record("the second writer, before call \(number): \(error)") }
      return .proceed
    }

    do throws(StoreError) {
      let first = try Log.openWriter(disk, path: root, options: options)
      isFirstOpen.withLock { $0 = true }
      for turn in 0..<4 {
        let append = Self.append("first \(turn)")
        let isLate = wasOpenAtTakeover.withLock { $0 }
        do throws(StoreError) {
          acknowledged.add(append, try first.appendBlocking(append.draft()))
          #expect(!isLate, "before call \(number): an append is acknowledged that began after the takeover")
        } catch {
          guard isLate || wasOpenAtTakeover.withLock({ $0 }) || calls.withLock({ $0.isTaken }) else {
            throw error
          }
        }
        if turn == 2 { _ = try? first.seal() }
      }
      try? first.close()
    } catch { if !calls.withLock({ $0.isTaken }) { throw error } }
    disk.onOperation(nil)

    if let log = second.withLock({ $0.log }) {
      for turn in 3..<5 {
        let append = Self.append("second \(turn)")
        acknowledged.add(append, try log.appendBlocking(append.draft()))
      }
      // HEAD is the one that the second writer writes, or a reader beside it would not see these.
      let reader = try Log.openReader(disk, path: root, options: options)
      #expect(reader.mark.sequence == log.mark.sequence, "before call \(number)")
      try reader.close()
      try log.close()
    }
    try expectAll(acknowledged.all, on: disk, options, "before call \(number)")
    return calls.withLock { $0.isTaken }
  }

  /// A check finds nothing, and a third writer finds every append that was acknowledged, where that was said to be.
  private func expectAll(
    _ acknowledged: [ModelAppend], on disk: SimulatedDisk, _ options: StoreOptions, _ what: String
  ) throws {
    #expect(try disk.findings(inStore: FaultStore.root) == [], "\(what)")
    let third = try Log.openWriter(disk, path: FaultStore.root, options: options)
    let found = Dictionary(
      uniqueKeysWithValues: try third.modelAppends().map { ($0.append.first, $0.append) })
    for append in acknowledged {
      #expect(
        found[append.first]?.hasSameContent(as: append) == true,
        "\(what): \(append.events[0].stream) is not at \(append.first)")
    }
    try third.close()
  }

  @Test(arguments: Durability.allCases, [true, false])
  func `fault 52: a writer that goes on after another one took the store over loses nothing of either`(
    _ durability: Durability, _ closesAtOnce: Bool
  ) throws {
    for segmentSizeTarget in [1, 1 << 20] {
      let options = FaultStore.options(durability, segmentSizeTarget: segmentSizeTarget)
      var number = 1
      while true {
        do {
          let isReached = try takeOver(before: number, options, closesAtOnce: closesAtOnce, Acknowledged())
          guard isReached else { break }
        } catch { Issue.record("before call \(number), segments of \(segmentSizeTarget): \(error)") }
        number += 1
      }
      #expect(number > 60, "the life has only \(number) calls")
    }
  }

  @Test func `fault 52: a segment that has the name of the next one is another writer's, and stays`() throws {
    let disk = SimulatedDisk()
    let options = FaultStore.options(segmentSizeTarget: 1)
    let log = try Log.openWriter(disk, path: FaultStore.root, options: options)
    _ = try log.appendBlocking(Self.append("one").draft())
    let next = FaultStore.layout.segment(2)
    disk.onOperation { [weak disk] call in
      if call.operation == .rename, let disk { _ = try? disk.put("of another writer", at: next) }
      return .proceed
    }
    do throws(StoreError) {
      _ = try log.appendBlocking(Self.append("two").draft())
      Issue.record("the writer goes on")
    } catch { guard error.reason == .poisoned else { throw error } }
    disk.onOperation(nil)
    #expect(try disk.open(next, .read).text() == "of another writer")
    #expect(throws: StoreError.self) { try log.close() }
  }

  @Test func `a feed of another process goes on in the file of the writer that took the store over`() throws {
    let options = FaultStore.options()
    let disk = SimulatedDisk()
    let root = FaultStore.root
    let first = try Log.openWriter(disk, path: root, options: options)
    for text in ["one", "two"] { _ = try first.appendBlocking(Self.append(text).draft()) }
    let reader = try Log.openReader(disk, path: root, options: options)
    var cursor = reader.cursor(after: 0)
    while try cursor.next() != nil {}
    #expect(cursor.nextSequence == 3)

    let second = Lock<Log?>(nil)
    let isTaken = Lock(false)
    disk.onOperation { [weak disk] call in
      guard call.operation == .write, call.path.hasSuffix(".seg"), let disk else { return .proceed }
      let isFirst = isTaken.withLock { isTaken in
        defer { isTaken = true }
        return !isTaken
      }
      guard isFirst else { return .proceed }
      do {
        try disk.remove(FaultStore.layout.lock)
        let log = try Log.openWriter(disk, path: root, options: options)
        _ = try log.appendBlocking(Self.append("of the second").draft())
        second.withLock { $0 = log }
      } catch { Issue.record("\(error)") }
      return .proceed
    }
    // Written into the file that was the segment, and never acknowledged.
    #expect(throws: StoreError.self) { try first.appendBlocking(Self.append("of the first").draft()) }
    disk.onOperation(nil)
    try reader.refresh()
    #expect(try cursor.next() != nil)
    let log = try #require(second.withLock { $0 })
    #expect(try cursor.chain == log.chain(after: 3))
    try log.close()
    try reader.close()
  }

  @Test func `a LOCK that is replaced between its opening and its locking is opened again`() throws {
    let disk = SimulatedDisk()
    try disk.createDirectory(FaultStore.root)
    let isReplaced = Lock(false)
    disk.onOperation { [weak disk] call in
      let isFirst = isReplaced.withLock { isReplaced in
        guard call.operation == .lock, !isReplaced else { return false }
        isReplaced = true
        return true
      }
      if isFirst, let disk {
        try? disk.remove(FaultStore.layout.lock)
        _ = try? disk.open(FaultStore.layout.lock, .createNew)
      }
      return .proceed
    }
    let lock = try StoreLock.acquire(disk, FaultStore.layout, timeout: .zero)
    #expect(try lock.isIntact())
    lock.release()
  }

  @Test
  func
    `an open after a process that ended leaves the active segment in its file, and after a replaced LOCK not`()
    throws
  {
    let folder = try TemporaryFolder()
    let (posix, path) = (PosixFileSystem(), folder.file("store"))
    let segment = StoreLayout(root: path).segment(1)
    var options = StoreOptions()
    options.preallocationStep = 0
    func unclean() throws {
      // What a process that is killed leaves: HEAD not clean, and no lock.
      let log = try Log.openWriter(posix, path: path, options: options)
      _ = try log.appendBlocking(Self.append("one").draft())
      let head = try posix.open("\(path)/HEAD", .read).bytes()
      try log.close()
      try posix.open("\(path)/HEAD", .readWrite).write(head, at: 0)
    }
    try unclean()
    let identity = try posix.identity(of: segment)
    try unclean()
    #expect(try posix.identity(of: segment) == identity)
    try posix.remove("\(path)/LOCK")
    let before = try posix.open(segment, .read).bytes()
    let log = try Log.openWriter(posix, path: path, options: options)
    #expect(try posix.identity(of: segment) != identity)
    #expect(try posix.open(segment, .read).bytes() == before)
    #expect(log.mark.sequence == 2)
    try log.close()
  }
}
