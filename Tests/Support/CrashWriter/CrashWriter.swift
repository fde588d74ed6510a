// A process that appends until it is killed, and says on standard output what was acknowledged.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// `strata-crashwriter STORE ROUND TASKS [CALL COUNT]`: each task appends to a stream of its own. A line
/// `FIRST TASK NUMBER COUNT` follows each acknowledgement. Every event says task, number, count and its place
/// in its append, so that a reader can tell a whole append from a part. Durability and the size of segments follow from
/// the round. With a call of `KillingFileSystem` the process ends itself there.
///
/// `strata-crashwriter STORE pace COUNT MICROSECONDS SEGMENTSIZE LEVEL`: appends so many events of one stream, at
/// that pace, and closes the store. A line `SEQUENCE NANOSECONDS` follows each acknowledgement: when it was, on the
/// monotonic clock. LEVEL is the number of a durability.
///
/// `strata-crashwriter STORE rest COUNT`: takes the first append of a feed, rests until the store has that many events,
/// and takes the others. Then it prints `LAST BYTES`: the last event that it was given, and by how much its memory grew
/// meanwhile. It ends with 1 at the first event that is not the next one.
///
/// `strata-crashwriter STORE serve TASKS`: lives with the store, as a server does: tasks that append, a consumer with an
/// effect for each append, and a reader of the feed. It prints `open`, and the sequence of each append that was
/// acknowledged. SIGTERM closes the store; once all of them have ended it prints `ended`, and ends.
@main
enum CrashWriter {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 7, arguments[2] == "pace" { return try pace(arguments) }
    if arguments.count == 4, arguments[2] == "rest" { return try await rest(arguments) }
    if arguments.count == 4, arguments[2] == "serve" { return try await serve(arguments) }
    guard arguments.count == 4 || arguments.count == 6, let round = Int(arguments[2]),
      let tasks = Int(arguments[3])
    else {
      print("strata-crashwriter STORE ROUND TASKS [CALL COUNT]")
      exit(64)
    }
    var options = StoreOptions()
    options.segmentSizeTarget = [40_000, 9_000, 1 << 20][round / 3 % 3]
    options.blockSizeTarget = 2_000
    options.durability = Durability.allCases[round % 3]
    options.headSyncInterval = .milliseconds(5)
    // The process before was just killed; its lock goes with it.
    options.lockTimeout = .seconds(5)
    var fileSystem: any FileSystem = PosixFileSystem()
    if arguments.count == 6, let count = Int(arguments[5]) {
      fileSystem = KillingFileSystem(fileSystem, at: KillPoint(call: arguments[4], count: count))
    }
    let store = try await StoreMachine.process.reads.result { [fileSystem, options] () throws(StoreError) in
      try EventStore.open(fileSystem, path: arguments[1], .readWrite, options: options)
    }.get()
    let output = Lock(STDOUT_FILENO)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0... {
            let count = 1 + (number + task) % 3
            let events = (0..<count).map { index in
              NewEvent(
                "made", in: StreamName("task/\(round)-\(task)"),
                payload: .opaque(
                  Array("\(round) \(task) \(number) \(count) \(index) ".utf8)
                    + Array(repeating: UInt8(ascii: "x"), count: (number * 37) % 700)))
            }
            guard let receipt = try? await store.append(events) else { return }
            let line = "\(receipt.sequences.lowerBound) \(task) \(number) \(count)\n"
            output.withLock { file in _ = line.withCString { write(file, $0, strlen($0)) } }
          }
        }
      }
    }
  }

  private static func pace(_ arguments: [String]) throws {
    guard let count = Int(arguments[3]), let pause = Int(arguments[4]), let size = Int(arguments[5]),
      let level = UInt32(arguments[6]).flatMap(Durability.init(rawValue:))
    else { exit(64) }
    var options = StoreOptions()
    options.segmentSizeTarget = size
    options.durability = level
    options.lockTimeout = .seconds(240)
    let store = try EventStore.openBlocking(at: arguments[1], options: options)
    var text = ""
    for number in 0..<count {
      let event = NewEvent("t", in: "pace/1", payload: .opaque(Array("\(number)".utf8)))
      let last = try store.appendBlocking([event]).sequences.upperBound
      text += "\(last) \(MonotonicTime.now().nanoseconds)\n"
      if pause > 0 || text.utf8.count > 4_000 || number == count - 1 {
        _ = text.withCString { write(1, $0, strlen($0)) }
        text = ""
      }
      if pause > 0 { pauseThread(nanoseconds: pause * 1_000) }
    }
    try store.closeBlocking()
  }

  private static func rest(_ arguments: [String]) async throws {
    guard let count = UInt64(arguments[3]) else { exit(64) }
    let store = try EventStore.openBlocking(at: arguments[1], .readOnly)
    var feed = store.feed().makeAsyncIterator()
    guard let first = try await feed.next(), first.sequences == 1...1 else { exit(1) }
    while store.head.sequence < count {
      try await Task.sleep(for: .milliseconds(10))
      try store.log.refresh()
    }
    let before = residentBytes()
    var (last, growth) = (UInt64(1), 0)
    while last < count, let batch = try await feed.nextBatch() {
      for append in batch {
        guard append.sequences == last + 1...last + 1 else { exit(1) }
        last += 1
      }
      growth = max(growth, residentBytes() - before)
    }
    print(last, growth)
    try store.closeBlocking()
  }

  private static func serve(_ arguments: [String]) async throws {
    guard let tasks = Int(arguments[3]) else { exit(64) }
    signal(SIGTERM, SIG_IGN)
    var options = StoreOptions()
    options.lockTimeout = .seconds(5)
    let store = try await EventStore.open(at: arguments[1], options: options)
    let asked = DispatchSource.makeSignalSource(signal: SIGTERM)
    asked.setEventHandler { Task { try await store.close() } }
    asked.resume()
    let output = Lock(STDOUT_FILENO)
    let say = { @Sendable (line: String) in
      output.withLock { file in _ = "\(line)\n".withCString { write(file, $0, strlen($0)) } }
    }
    say("open")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          while let receipt = try? await store.append([NewEvent("made", in: "task/\(task)", .null)]) {
            say("\(receipt.sequences.lowerBound)")
          }
        }
      }
      group.addTask {
        var options = ConsumerOptions()
        options.selection = .category("task")
        try await store.consumer("counter", options).run { append, batch in
          for event in append.events {
            try batch.append(NewEvent("seen", in: "seen/\(event.sequence)", .null))
          }
        }
      }
      group.addTask { for try await _ in store.feed() {} }
      try await group.waitForAll()
    }
    // Returns once the call that the signal began has closed it.
    try await store.close()
    asked.cancel()
    say("ended")
  }

  /// Bytes of this process that are in memory now.
  private static func residentBytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
  }
}
