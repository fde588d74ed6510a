// A carrier in memory that does what real ones do at their worst, as a seed decides.

internal import StrataBase
public import StrataReplica
internal import StrataSimulation

/// A carrier in memory, for tests: by itself it answers at once and truly. With faults, answers are lost, puts come late,
/// twice or not at all, and reads fail. What it promises it keeps nevertheless: of all puts of a number one wins.
///
/// ```swift
/// let carrier = MemoryCarrier()
/// let store = EventStore.inMemory()
/// try await store.ship(to: carrier)
/// carrier.setFaults(.all(0.2), seed: 7)
/// let receipt = try await store.append([NewEvent("paid", in: "account/1", ["cents": 250])])
/// try await receipt.replicated(within: .seconds(10))
/// ```
public final class MemoryCarrier: CarrierFiles {
  /// How probable each fault is, from 0 to 1.
  public struct Faults: Sendable, Equatable {
    /// A put that won, or lost, without an answer.
    public var lostAnswers = 0.0
    /// A put without an answer that arrives later, after other calls, or never.
    public var latePuts = 0.0
    /// A put without an answer that never arrives.
    public var lostPuts = 0.0
    /// A put that arrives again later.
    public var repeatedPuts = 0.0
    /// A read that fails.
    public var failedReads = 0.0
    /// Whether puts replace what is there, as a carrier does that ignores conditions.
    public var ignoresConditions = false

    public init() {}

    /// Every fault of puts and reads with one probability.
    public static func all(_ probability: Double) -> Faults {
      var faults = Faults()
      faults.lostAnswers = probability
      faults.latePuts = probability
      faults.lostPuts = probability
      faults.repeatedPuts = probability
      faults.failedReads = probability
      return faults
    }
  }

  private struct State {
    var objects: [UInt64: [UInt8]] = [:]
    /// How often each object was replaced.
    var versions: [UInt64: Int] = [:]
    /// Every number up to this one was removed.
    var removedThrough: UInt64 = 0
    /// The files beside the objects, by their whole names.
    var files: [String: [UInt8]] = [:]
    var late: [CarrierObject] = []
    var faults = Faults()
    var random = SeededGenerator(seed: 0)
    var isAsleep = false

    mutating func happens(_ probability: Double) -> Bool {
      probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    /// Puts an object that arrives now. Returns whether it won: a number that was freed is free.
    mutating func arrive(_ object: CarrierObject) -> Bool {
      guard objects[object.number] == nil || faults.ignoresConditions else { return false }
      objects[object.number] = object.bytes
      return true
    }

    /// Has some of the late puts arrive, in any order.
    mutating func deliverLate() {
      while !late.isEmpty, Bool.random(using: &random) {
        _ = arrive(late.remove(at: Int.random(in: 0..<late.count, using: &random)))
      }
    }
  }

  public let name: String
  private let state = Lock(State())

  /// - Parameter name: what messages call it.
  public init(name: String = "memory:") { self.name = name }

  /// Replaces the faults. They depend on the seed and on the order of the calls only.
  public func setFaults(_ faults: Faults, seed: UInt64) {
    state.withLock { state in
      state.faults = faults
      state.random = SeededGenerator(seed: seed)
    }
  }

  /// Answers no call until `wakeUp`. What was put arrives then, or never.
  public func sleep() { state.withLock { $0.isAsleep = true } }

  public func wakeUp() { state.withLock { $0.isAsleep = false } }

  /// The objects that are there.
  public var objects: [UInt64: [UInt8]] { state.withLock { $0.objects } }

  /// The files beside them, by their names.
  public var files: [String: [UInt8]] { state.withLock { $0.files } }

  /// Changes what is there, as damage does; nil removes an object.
  public func damage(_ number: UInt64, _ bytes: [UInt8]?) { state.withLock { $0.objects[number] = bytes } }

  private static let silence = CarrierError(
    .unreachable, what: "the carrier does not answer", next: "nothing: it is tried again")

  public func prove() throws(CarrierError) {
    let (isFit, isAsleep) = state.withLock { (!$0.faults.ignoresConditions, $0.isAsleep) }
    if isAsleep { throw Self.silence }
    guard isFit else {
      throw CarrierError(
        .unfit, what: "what was put under a number that was taken replaced what was there",
        next: "choose a carrier that keeps conditions")
    }
  }

  public func put(_ objects: [CarrierObject]) -> CarrierAnswer {
    state.withLock { state in
      for (count, object) in objects.enumerated() {
        state.deliverLate()
        if state.happens(state.faults.latePuts) || state.isAsleep {
          state.late.append(object)
          return .stopped(count: count, .unknown(Self.silence))
        }
        if state.happens(state.faults.lostPuts) { return .stopped(count: count, .unknown(Self.silence)) }
        if state.happens(state.faults.repeatedPuts) { state.late.append(object) }
        let isNext = object.number - 1 <= state.removedThrough || state.objects[object.number - 1] != nil
        guard isNext else {
          return .stopped(
            count: count,
            .refused(
              CarrierError(.refused, what: "number \(object.number - 1) is not there", next: "put it first")))
        }
        let hasWon = state.arrive(object)
        if state.happens(state.faults.lostAnswers) { return .stopped(count: count, .unknown(Self.silence)) }
        guard hasWon else { return .stopped(count: count, .taken) }
      }
      return .stored
    }
  }

  public func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? {
    try answering { state throws(CarrierError) in
      state.deliverLate()
      guard let bytes = state.objects[number] else { return nil }
      return CarrierObject(number: number, bytes: bytes, version: String(state.versions[number, default: 0]))
    }
  }

  public func extent() throws(CarrierError) -> CarrierExtent {
    try answering { CarrierExtent(of: Array($0.objects.keys)) }
  }

  public func replaceObject(_ object: CarrierObject) throws(CarrierError) {
    try answering { state throws(CarrierError) in
      let version = state.versions[object.number, default: 0]
      guard object.version == nil || object.version == String(version) else {
        throw CarrierError(
          .unreachable, what: "object \(object.number) was replaced meanwhile", next: "read it again")
      }
      state.objects[object.number] = object.bytes
      state.versions[object.number] = version + 1
    }
  }

  /// Has a call that reads or replaces answer, or not.
  private func answering<Result>(
    _ body: (inout State) throws(CarrierError) -> Result
  ) throws(CarrierError) -> Result {
    try state.withLock { state throws(CarrierError) in
      if state.isAsleep || state.happens(state.faults.failedReads) { throw Self.silence }
      return try body(&state)
    }
  }

  // MARK: Files

  public func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer {
    do throws(CarrierError) {
      return try answering { state throws(CarrierError) in
        guard state.files[name] == nil || state.faults.ignoresConditions else {
          return .stopped(count: 0, .taken)
        }
        state.files[name] = bytes
        if state.happens(state.faults.lostAnswers) { throw Self.silence }
        return .stored
      }
    } catch { return .stopped(count: 0, .unknown(error)) }
  }

  public func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError) {
    try answering { $0.files[name] = bytes }
  }

  public func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) {
    var bytes = [UInt8](repeating: 0, count: Int(size))
    try bytes.lendMutableBytes { buffer throws(CarrierError) in
      if buffer.count > 0 { try read(buffer, 0) }
    }
    try replaceFile(name, bytes)
  }

  public func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int? {
    guard let bytes = try answering({ $0.files[name] }) else { return nil }
    let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
    buffer.copyBytes(from: part)
    return part.count
  }

  public func fileNames(in folder: String) throws(CarrierError) -> [String] {
    try answering { state in
      guard folder != Self.log else { return state.objects.keys.map(Self.digits) }
      return state.files.keys.filter { $0.hasPrefix("\(folder)/") }.map {
        String($0.dropFirst(folder.utf8.count + 1))
      }
    }
  }

  public func removeFiles(_ names: [String], in folder: String) throws(CarrierError) {
    try answering { state in
      for name in names {
        guard folder == Self.log, let number = UInt64(name) else {
          state.files["\(folder)/\(name)"] = nil
          continue
        }
        state.objects[number] = nil
        state.removedThrough = max(state.removedThrough, number)
      }
    }
  }

  /// The folder of objects.
  private static let log = "log"

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }

  public func waitForObject(_ number: UInt64, within interval: Duration) {
    let pause = Gate(())
    if state.withLock({ $0.objects[number] == nil }) {
      _ = pause.wait(timeout: min(interval, .milliseconds(2))) { _ in false }
    }
  }
}
