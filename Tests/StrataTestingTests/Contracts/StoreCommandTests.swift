// A store against a model, by commands, with power cuts and restarts in between: an example of stateful testing.

import Strata
import StrataTesting
import Testing

/// What a store must do with the versions of a few streams.
private struct StreamModel: CommandModel {
  enum Command: Sendable {
    case append(stream: Int, expecting: Int?)
    case read(stream: Int)
    case reopen, powerCut
  }

  /// The version of each stream, or that an append is refused.
  enum Response: Equatable, Sendable { case version(Int), conflict, done }

  var versions = [0, 0]

  var commands: Gen<Command> {
    let stream = Gen<Int>.int(in: 0...1)
    let versions = versions
    let append = stream.flatMap { stream in
      // The right version, or one next to it, or none.
      Gen<Int>.int(in: max(0, versions[stream] - 1)...versions[stream] + 1).optional.map {
        Command.append(stream: stream, expecting: $0)
      }
    }
    return .frequency(
      (5, append), (3, stream.map { .read(stream: $0) }), (1, .always(.reopen)), (1, .always(.powerCut)))
  }

  mutating func apply(_ command: Command) -> Response {
    switch command {
    case .append(let stream, let expected):
      if let expected, expected != versions[stream] { return .conflict }
      versions[stream] += 1
      return .version(versions[stream])
    case .read(let stream): return .version(versions[stream])
    case .reopen, .powerCut: return .done
    }
  }
}

/// A store on a simulated disk.
private final class Bench {
  private var disk = SimulatedDisk()
  private var store: EventStore
  /// Whether a power cut also loses the last append that was acknowledged: a store that lies.
  private let losesAppends: Bool

  init(losesAppends: Bool = false) async throws {
    self.losesAppends = losesAppends
    store = try await disk.open(at: "/store")
  }

  nonisolated(nonsending) func run(_ command: StreamModel.Command) async throws -> StreamModel.Response {
    switch command {
    case .append(let stream, let expected):
      let name = StreamName(category: "stream", id: "\(stream)")
      do {
        if losesAppends { before = disk.afterPowerCut(seed: 0) }
        try await store.append(
          [NewEvent("added", in: name, .null)],
          expecting: expected.map { [name: $0 == 0 ? .noStream : .exactly(UInt64($0))] } ?? [:])
      } catch let error as StoreError where error.isConflict {
        return .conflict
      }
      return try await version(stream)
    case .read(let stream): return try await version(stream)
    case .reopen:
      try await store.close()
      store = try await disk.open(at: "/store")
    case .powerCut:
      let after = before ?? disk.afterPowerCut(seed: 0)
      disk.cutPower()
      try? await store.close()
      (disk, before) = (after, nil)
      store = try await disk.open(at: "/store")
    }
    return .done
  }

  private var before: SimulatedDisk?

  nonisolated(nonsending) private func version(_ stream: Int) async throws -> StreamModel.Response {
    .version(Int(try await store.version(of: StreamName(category: "stream", id: "\(stream)"))))
  }
}

extension StoreError {
  fileprivate var isConflict: Bool { if case .conflict = self { true } else { false } }
}

@Suite struct StoreCommandTests {
  @Test func `a store keeps the versions of its streams through restarts and power cuts`() async throws {
    try await check(StreamModel.self, Budget(cases: 40, size: 20, duration: .seconds(3_600)), seed: 1) {
      try await Bench()
    } run: {
      try await $1.run($0)
    }
  }

  @Test func `a store that loses what it acknowledged is found, in three commands`() async throws {
    for seed: UInt64 in 0..<3 {
      let found = await #expect(throws: Counterexample.self) {
        try await check(StreamModel.self, Budget(size: 20), seed: seed) {
          try await Bench(losesAppends: true)
        } run: {
          try await $1.run($0)
        }
      }
      // Both show what is lost: a read, and the version that a second append has.
      let simplest = ["read(stream: 0)", "append(stream: 0, expecting: nil)"].map {
        "[.append(stream: 0, expecting: nil), .powerCut, .\($0)]"
      }
      #expect(simplest.contains(found?.source ?? ""), "\(found as Any)")
    }
  }

  @Test func `versions that are expected at the same time are linearizable`() async throws {
    // Appends and reads only: a restart has no moment among calls that run.
    try await checkConcurrently(
      AppendModel.self, Budget(cases: 20, size: 10, duration: .seconds(3_600)), seed: 1, tries: 3
    ) {
      EventStore.inMemory()
    } run: { command, store in
      switch command {
      case .append:
        return Int(try await store.append([NewEvent("added", in: "stream/1", .null)]).sequences.upperBound)
      case .read: return Int(try await store.version(of: "stream/1"))
      }
    }
  }
}

/// How many events there are.
private struct AppendModel: CommandModel {
  enum Command: CaseIterable, Sendable { case append, read }
  var count = 0
  var commands: Gen<Command> { .anyCase() }

  mutating func apply(_ command: Command) -> Int {
    if command == .append { count += 1 }
    return count
  }
}
