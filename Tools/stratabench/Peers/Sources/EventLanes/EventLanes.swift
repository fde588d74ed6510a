// Runs one piece of work with GRDB once, as `stratabench peer-lane` does for Strata, and prints the same line.
//
//     EventLanes versions
//     EventLanes WORK --events FILE --store PATH --count N --writers N --each N --hot N --at-most SECONDS
//         --synced --indexed

internal import Foundation

@main
struct EventLanes {
  private static let batchSize = 1_000

  static func main() async throws {
    var words = Array(CommandLine.arguments.dropFirst())
    guard let work = words.first else {
      FileHandle.standardError.write(Data("usage: EventLanes versions | EventLanes WORK [OPTION...]\n".utf8))
      exit(64)
    }
    if work == "versions" {
      return print(#"{"GRDB": "7.10.0 with SQLite \#(try EventDatabase.sqliteVersion())"}"#)
    }
    words.removeFirst()
    var options: [String: String] = [:]
    while !words.isEmpty {
      let name = words.removeFirst()
      let isFlag = ["--synced", "--indexed"].contains(name)
      options[name] = isFlag ? "yes" : words.isEmpty ? "" : words.removeFirst()
    }
    let result = try await EventLanes(options).run(work)
    print(#"{"seconds": \#(result.seconds), "count": \#(result.count), "sum": \#(result.sum)}"#)
  }

  private typealias Result = (seconds: Double, count: Int, sum: UInt64)

  private let options: [String: String]
  private let rows: [EventDatabase.Row]
  private let count: Int
  private let writers: Int
  private let each: Int

  private init(_ options: [String: String]) throws {
    self.options = options
    rows = try EventFile.read(options["--events"] ?? "").map {
      EventDatabase.Row(stream: String(decoding: $0.stream, as: UTF8.self), payload: Data($0.payload))
    }
    count = Self.number("--count", options) ?? 1_000_000
    writers = Self.number("--writers", options) ?? 1
    each = Self.number("--each", options) ?? 1_000
  }

  private static func number(_ name: String, _ options: [String: String]) -> Int? {
    options[name].flatMap { Int($0) }
  }

  private func open(isSynced: Bool? = nil) throws -> EventDatabase {
    try EventDatabase(
      path: options["--store"] ?? "", isSynced: isSynced ?? (options["--synced"] != nil),
      isIndexed: options["--indexed"] != nil)
  }

  private func run(_ work: String) async throws -> Result {
    switch work {
    case "fill", "bulk": return (try await seconds { try await fill() }, count, 0)
    case "durable": return try await durable()
    case "read": return try read()
    case "stream": return try readStreams()
    case "scan":
      let database = try open()
      let start = ContinuousClock.now
      let found = try database.scan()
      let time = (ContinuousClock.now - start) / .seconds(1)
      try database.close()
      return (time, found.count, found.sum)
    default:
      FileHandle.standardError.write(Data("no work \(work)\n".utf8))
      exit(64)
    }
  }

  private func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  private func fill() async throws {
    let database = try open()
    for start in stride(from: 0, to: count, by: Self.batchSize) {
      let batch = (start..<min(count, start + Self.batchSize)).map { rows[$0 % rows.count] }
      try await database.append(batch[...], first: start + 1)
    }
    try database.close()
  }

  private func durable() async throws -> Result {
    let database = try open(isSynced: true)
    try await database.append(rows[0..<1], first: writers * each + 1)
    let end = ContinuousClock.now + .seconds(Self.number("--at-most", options) ?? 10)
    let start = ContinuousClock.now
    let written = try await withThrowingTaskGroup(of: Int.self) { group in
      for writer in 0..<writers {
        group.addTask {
          var written = 0
          while written < each, ContinuousClock.now < end {
            let index = writer * each + written
            let row = index % rows.count
            try await database.append(rows[row..<row + 1], first: index + 1)
            written += 1
          }
          return written
        }
      }
      return try await group.reduce(0, +)
    }
    let time = (ContinuousClock.now - start) / .seconds(1)
    try database.close()
    return (time, written, 0)
  }

  /// Reads a fifth as many before, as the other programs do.
  private func read() throws -> Result {
    let database = try open()
    let range = min(Self.number("--hot", options).flatMap { $0 > 0 ? $0 : nil } ?? count, count)
    func sum(_ reads: Int, seed: Int) throws -> UInt64 {
      var numbers = FixedGenerator(seed: seed)
      var sum: UInt64 = 0
      for _ in 0..<reads {
        sum &+= try database.read(count - range + Int(numbers.next() % UInt64(range)) + 1).sum
      }
      return sum
    }
    _ = try sum(each / 5, seed: 2)
    let start = ContinuousClock.now
    let found = try sum(each, seed: 1)
    let time = (ContinuousClock.now - start) / .seconds(1)
    try database.close()
    return (time, each, found)
  }

  private func readStreams() throws -> Result {
    let database = try open()
    func sum(_ reads: Int, seed: Int) throws -> (count: Int, sum: UInt64) {
      var numbers = FixedGenerator(seed: seed)
      var all = (count: 0, sum: UInt64(0))
      for _ in 0..<reads {
        let row = rows[Int(numbers.next() % UInt64(count)) % rows.count]
        let found = try database.readStream(row.stream)
        all.count += found.count
        all.sum &+= found.sum
      }
      return all
    }
    _ = try sum(each / 5, seed: 2)
    let start = ContinuousClock.now
    let found = try sum(each, seed: 1)
    let time = (ContinuousClock.now - start) / .seconds(1)
    try database.close()
    return (time, found.count, found.sum)
  }
}
