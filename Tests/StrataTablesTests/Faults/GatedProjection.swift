// A projection that waits at some events until the test lets it continue.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// A door that blocks a fold: the fold waits at it, and the test waits for the fold to arrive.
final class Door: Sendable {
  private struct State {
    var isOpen = false
    var arrivedCount = 0
  }

  private static let all = Lock<[String: Door]>([:])

  private let state = Gate(State())

  /// The door with a name. Each test uses its own names.
  static func named(_ name: String) -> Door {
    all.withLock { all in
      if let door = all[name] { return door }
      all[name] = Door()
      return all[name]!
    }
  }

  var arrivedCount: Int { state.withLock { $0.arrivedCount } }

  func open() {
    state.withLock { $0.isOpen = true }
    state.signalAll()
  }

  /// Waits until that many events have arrived at the door.
  func waits(for count: Int = 1) async {
    await IOThreads(name: "test", threadCountMax: 1).run { [state] in state.wait { $0.arrivedCount >= count }
    }
  }

  fileprivate func passThrough() {
    state.withLock { $0.arrivedCount += 1 }
    state.signalAll()
    state.wait { $0.isOpen }
  }
}

/// Keeps a row for each event. At an event in a stream `door/NAME`, waits at the door with that name.
struct GatedProjection: Projection {
  struct Row: Codable, Identifiable, Sendable { var id: String }

  static let name = "gated"
  static let version = 1
  static let rows = TableKey<Row>("rows")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    if event.stream.category == "door" { Door.named(event.stream.id).passThrough() }
    let id = "\(event.sequence)"
    tables[Self.rows, id] = Row(id: id)
  }
}

extension EventStore {
  /// A store whose folds have their own threads, with a door at some of its events.
  static func gated(_ doors: [String?], on threads: FairThreads) throws -> EventStore {
    var options = StoreOptions()
    options.machine.folds = threads
    options.machine.past = threads
    let store = EventStore.inMemory(options: options)
    for door in doors {
      try store.appendBlocking([NewEvent("t", in: door.map { "door/\($0)" } ?? "open/a", .null)])
    }
    return store
  }
}
