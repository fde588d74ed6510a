// Reads that must build an index first, and other stores that are read meanwhile.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct UnbuiltIndexReadTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)

  private static let machine = StoreMachine(threads: .system)

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    // Other tests may hold the threads that everybody shares.
    options.machine = machine
    options.clock = .fixed
    options.segmentSizeTarget = 1
    options.writesInStep = true
    return options
  }

  /// A closed store with a segment for each append and no index.
  private static func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: path, .readWrite, options: options())
    for number in 1...6 {
      try store.appendBlocking([NewEvent("t", in: "s/1", .int(Int64(number)))], id: "\(number)")
    }
    try store.closeBlocking()
    for name in disk.paths where name.hasPrefix(layout.derived + "/") { disk.delete(name) }
    return disk
  }

  /// Has whoever opens the first segment's file wait until it is let go.
  private struct Hold {
    private struct State {
      var reached = 0
      var isLetGo = false
      /// Set where nobody let it go, since whoever would waited for it too.
      var wasInTheWay = false
    }
    private let gate = Gate(State())

    func put(on disk: SimulatedDisk) {
      disk.onOperation { [gate] call in
        guard call.operation == .open, call.path == UnbuiltIndexReadTests.layout.segment(1) else {
          return .proceed
        }
        gate.withLock { $0.reached += 1 }
        gate.signalAll()
        if !gate.wait(timeout: .seconds(20), until: { $0.isLetGo }) {
          gate.withLock { $0.wasInTheWay = true }
        }
        return .proceed
      }
    }

    func waitUntilReached(by count: Int) async {
      await IOThreads(name: "test", threadCountMax: 1).run { gate.wait { $0.reached >= count } }
    }

    /// - Returns: false where it was in the way before this.
    func letGo() -> Bool {
      defer { gate.signalAll() }
      return gate.withLock { state in
        state.isLetGo = true
        return !state.wasInTheWay
      }
    }
  }

  enum Look: CaseIterable { case version, events, id, open }

  @Test(arguments: Look.allCases)
  func `who must build an index first keeps no other store waiting`(look: Look) async throws {
    let other = EventStore.inMemory(clock: .fixed, options: Self.options())
    try await other.append([NewEvent("t", in: "s/1", .null)])
    let hold = Hold()
    let looks = try (0..<4).map { _ in
      let disk = try Self.disk()
      guard look != .open else {
        hold.put(on: disk)
        return Task {
          let store = try await EventStore.open(disk, at: Self.path, .readWrite, options: Self.options())
          try store.closeBlocking()
          return true
        }
      }
      let store = try EventStore.open(disk, path: Self.path, .readOnly, options: Self.options())
      hold.put(on: disk)
      return Task {
        switch look {
        case .open: false
        case .version: try await store.version(of: "none/1") == 0
        case .events: try await store.events(in: "none/1").isEmpty
        case .id: try await store.append(withID: "none") == nil
        }
      }
    }
    // As many as there are threads that everybody shares.
    await hold.waitUntilReached(by: 2)
    #expect(try await other.version(of: "s/1") == 1)
    #expect(hold.letGo())
    for look in looks { #expect(try await look.value) }
    try await other.close()
  }
}
