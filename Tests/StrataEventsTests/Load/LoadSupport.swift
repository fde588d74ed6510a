// Random appends for loads, and the store that single appends in the same order make: the model of a load.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// Appends as a program may load them: repeated ids, times that go back, expected versions, some of which are not met.
struct RandomLoad {
  var random: SeededGenerator
  /// One append of that many is refused; nil for none.
  var refusedEvery: Int?
  /// Whether every append has a time of its own, so that the clock makes no difference.
  var isTimed = false
  private var count = 0
  private var ids: [NewAppend] = []
  private var versions: [StreamName: UInt64] = [:]

  init(seed: UInt64, refusedEvery: Int? = nil) {
    random = SeededGenerator(seed: seed)
    self.refusedEvery = refusedEvery
  }

  mutating func appends(_ count: Int) -> [NewAppend] { (0..<count).map { _ in next() } }

  private mutating func next() -> NewAppend {
    let number = count
    count += 1
    if !ids.isEmpty, Int.random(in: 0..<8, using: &random) == 0 {
      return ids.randomElement(using: &random)!
    }
    var append = NewAppend([])
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let (kind, id) = (Int.random(in: 0...2, using: &random), Int.random(in: 0...4, using: &random))
      let length = Int.random(in: 0...120, using: &random)
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      append.events.append(
        NewEvent(
          "t\(number % 3)", in: "kind\(kind)/\(id)", payload: .opaque(bytes),
          metadata: ["n": .int(Int64(number))]))
    }
    let stream = append.events[0].stream
    if Bool.random(using: &random) { append.expecting[stream] = .exactly(versions[stream] ?? 0) }
    if let refusedEvery, Int.random(in: 0..<refusedEvery, using: &random) == 0 {
      switch Int.random(in: 0...3, using: &random) {
      case 0: append.expecting[stream] = .exactly(1_000_000)
      case 1: append.events[0].type = ""
      case 2 where !ids.isEmpty: append.id = ids[0].id
      default: append.events = []
      }
      return append
    }
    if Bool.random(using: &random) || isTimed {
      append.time = Timestamp(nanoseconds: 1_700_000_000 + Int64.random(in: -9...9, using: &random))
    }
    if Bool.random(using: &random) {
      append.id = "id-\(number)"
      ids.append(append)
    }
    for event in append.events { versions[event.stream, default: 0] += 1 }
    return append
  }
}

/// What single appends make of the same appends, up to the first that is refused.
struct LoadModel {
  /// The head after each append, and before the first.
  private(set) var heads: [LogPosition]
  private(set) var known: [String] = []
  private(set) var refusal: (index: Int, error: StoreError)?
  private(set) var appended = 0

  init(_ appends: [NewAppend]) throws {
    let store = EventStore.inMemory(clock: .fixed)
    heads = [store.head]
    for (index, append) in appends.enumerated() {
      do throws(StoreError) {
        let receipt = try store.appendBlocking(
          append.events, id: append.id, time: append.time, expecting: append.expecting)
        if receipt.wasKnown { known.append(append.id ?? "") } else { appended += 1 }
      } catch {
        refusal = (index, error)
        break
      }
      heads.append(store.head)
    }
    try store.closeBlocking()
  }

  /// How many of the appends a store has, or nil if it has something else.
  func count(of store: EventStore) -> Int? { heads.lastIndex(of: store.head) }
}

/// Delivers appends, and does something before each.
struct Delivered: AsyncSequence {
  struct AsyncIterator: AsyncIteratorProtocol {
    var appends: ArraySlice<NewAppend>
    let before: @Sendable (_ left: Int) async throws -> Void

    mutating func next() async throws -> NewAppend? {
      try await before(appends.count)
      return appends.popFirst()
    }
  }

  let appends: [NewAppend]
  let before: @Sendable (_ left: Int) async throws -> Void

  init(_ appends: [NewAppend], before: @escaping @Sendable (_ left: Int) async throws -> Void = { _ in }) {
    self.appends = appends
    self.before = before
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(appends: appends[...], before: before) }
}
