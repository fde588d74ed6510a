// Measures copies in a folder: what shipping costs a writer, how long a replicated append takes, and catching up.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataReplica

extension Workload {
  /// In each round, with new stores: appends without and with shipping, to a folder and to a place that takes and drops;
  /// appends that wait for the folder, next to the same files made by hand; and a copy from the beginning, next to
  /// copying the store's files.
  static func copies(_ bench: Bench) async throws {
    var (alone, folder, dropping) = (Costs(), Costs(), Costs())
    var (raw, replicated) = (Waits(), Waits())
    var (copied, followed): ([Double], [Double]) = ([], [])
    let count = bench.corpus.count
    for _ in 0..<bench.rounds {
      try await alone.measure(bench, carrier: nil)
      try await folder.measure(bench, carrier: FolderCarrier(path: bench.scratch.fresh("carrier")))
      try await dropping.measure(bench, carrier: DroppingCarrier())
      raw.add(try RawPuts.times(200, size: 450, in: bench.scratch.fresh("raw")))
      replicated.add(try await replicatedTimes(200, bench))
      let (files, copy) = try await catchUp(count, bench)
      copied.append(files)
      followed.append(copy)
    }
    report("appends alone", "\(alone.text)")
    report("appends, shipped to a folder", "\(folder.text)   \(folder.ratio(to: alone))")
    report("appends, to one that drops", "\(dropping.text)   \(dropping.ratio(to: alone))")
    report("files put by hand", raw.text)
    report("appends that wait for the folder", "\(replicated.text)   \(replicated.ratio(to: raw))")
    report("copying the store's files", rate(count, median(copied)) + " events")
    report(
      "a copy from the beginning",
      rate(count, median(followed)) + " events   "
        + String(format: "%.2f x", medianRatio(copied, to: followed)))
  }

  private static func event(_ number: Int) -> NewEvent {
    NewEvent(
      "measured", in: StreamName("task/\(number % 100)"),
      ["number": .int(Int64(number)), "text": .string(String(repeating: "\(number * 7919) ", count: 24))])
  }

  /// The nanoseconds that each append took until it was in the folder.
  private static func replicatedTimes(_ count: Int, _ bench: Bench) async throws -> [Int64] {
    let store = try await EventStore.open(at: bench.scratch.fresh("waits"))
    try await store.ship(to: FolderCarrier(path: bench.scratch.fresh("carrier")))
    var times: [Int64] = []
    for number in 0..<count {
      let begin = MonotonicTime.now()
      let receipt = try await store.append([event(number)])
      try await receipt.replicated(within: .seconds(60))
      times.append(MonotonicTime.now().nanoseconds - begin.nanoseconds)
    }
    try await store.close()
    return times
  }

  /// The seconds for copying the files of a sealed store, and for following it from the beginning.
  private static func catchUp(_ count: Int, _ bench: Bench) async throws -> (files: Double, copy: Double) {
    let path = bench.scratch.fresh("whole")
    let carrier = FolderCarrier(path: bench.scratch.fresh("carrier"))
    let store = try await EventStore.open(at: path)
    try await store.load((0..<count).map { NewAppend([event($0)]) })
    _ = try await store.seal()
    let shipping = try await store.ship(to: carrier)
    try await shipping.replicated(within: .seconds(600))
    while !shipping.settle() { try await Task.sleep(for: .milliseconds(20)) }
    try await store.close()
    let target = bench.scratch.fresh("files")
    let files = try seconds {
      try FileManager.default.copyItem(atPath: path, toPath: target)
      sync()
    }
    let copy = try await seconds {
      let copy = try await EventStore.follow(from: carrier, at: bench.scratch.fresh("copy"))
      try await copy.following?.caughtUp()
      try await copy.close()
    }
    return (files, copy)
  }

  /// What appends cost, in time and in processor time.
  private struct Costs {
    private var times: [Double] = []
    private var processor: [Double] = []

    mutating func measure(_ bench: Bench, carrier: (any Carrier)?) async throws {
      let store = try await EventStore.open(at: bench.scratch.fresh("appends"))
      if let carrier { try await store.ship(to: carrier) }
      let before = ProcessorTime.now()
      let taken = try await seconds {
        for number in 0..<1_000 { try await store.append([Workload.event(number)]) }
      }
      times.append(taken / 1_000)
      processor.append(before.seconds / 1_000)
      try await store.close()
    }

    var text: String { rate(1, median(times)) + "  processor " + microseconds(median(processor)) }

    func ratio(to other: Costs) -> String {
      String(
        format: "%.2f x in time, %.2f x in processor time", medianRatio(times, to: other.times),
        medianRatio(processor, to: other.processor))
    }
  }

  /// How long callers waited, in all rounds.
  private struct Waits {
    private var times: [Int64] = []

    mutating func add(_ round: [Int64]) { times += round }

    private func quantile(_ hundredths: Int) -> Double {
      Double(times.sorted()[times.count * hundredths / 100]) / 1e3
    }

    var text: String { String(format: "p50 %5.0f us  p99 %5.0f us", quantile(50), quantile(99)) }

    func ratio(to other: Waits) -> String {
      String(
        format: "%.2f x at p50, %.2f x at p99", quantile(50) / other.quantile(50),
        quantile(99) / other.quantile(99))
    }
  }
}

/// The same files as a folder carrier's, by system calls alone.
private enum RawPuts {
  static func times(_ count: Int, size: Int, in folder: String) throws -> [Int64] {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let bytes = [UInt8](repeating: 7, count: size)
    let directory = open(folder, O_RDONLY)
    defer { close(directory) }
    return (0..<count).map { number in
      let begin = MonotonicTime.now()
      let file = open("\(folder)/unfinished", O_CREAT | O_EXCL | O_RDWR, 0o644)
      _ = pwrite(file, bytes, size, 0)
      fsync(file)
      close(file)
      rename("\(folder)/unfinished", "\(folder)/\(number)")
      fsync(directory)
      return MonotonicTime.now().nanoseconds - begin.nanoseconds
    }
  }
}

/// Takes every object and keeps none.
private final class DroppingCarrier: Carrier {
  let name = "dropping:"
  func prove() throws(CarrierError) {}
  func put(_ objects: [CarrierObject]) -> CarrierAnswer { .stored }
  func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? { nil }
  func extent() throws(CarrierError) -> CarrierExtent { CarrierExtent(of: []) }
  func replaceObject(_ object: CarrierObject) throws(CarrierError) {}
  func waitForObject(_ number: UInt64, within interval: Duration) {}
  func notes() throws(CarrierError) -> [CarrierNote] { [] }
  func setNote(_ note: CarrierNote) throws(CarrierError) {}
  func removeNote(of member: String) throws(CarrierError) {}
}
