// Systems against models, by commands.

import StrataCheck
import Synchronization
import Testing

/// A queue of limited length.
private struct QueueModel: CommandModel {
  enum Command: Sendable { case put(Int), take, count }

  static let limit = 4
  var numbers: [Int] = []

  var commands: Gen<Command> {
    let put = Gen<Int>.int().map { Command.put($0) }
    return numbers.isEmpty ? put : .oneOf(.always(.take), .always(.count), put)
  }

  func allows(_ command: Command) -> Bool {
    switch command {
    case .put: numbers.count < Self.limit
    case .take: !numbers.isEmpty
    case .count: true
    }
  }

  mutating func apply(_ command: Command) -> Int {
    switch command {
    case .put(let number):
      numbers.append(number)
      return 0
    case .take: return numbers.removeFirst()
    case .count: return numbers.count
    }
  }
}

/// A ring buffer that is one place too short: what is full looks empty.
private final class Ring {
  private var places: [Int]
  private var (first, next) = (0, 0)

  init(places count: Int) { places = Array(repeating: 0, count: count) }

  func run(_ command: QueueModel.Command) -> Int {
    switch command {
    case .put(let number):
      places[next] = number
      next = (next + 1) % places.count
      return 0
    case .take:
      defer { first = (first + 1) % places.count }
      return places[first]
    case .count: return (next - first + places.count) % places.count
    }
  }
}

/// A number that tasks add to.
private struct SumModel: CommandModel {
  enum Command: Sendable { case add(Int), read }

  var sum = 0
  var commands: Gen<Command> { .oneOf(.always(.read), Gen<Int>.int(in: 1...3).map { .add($0) }) }

  mutating func apply(_ command: Command) -> Int {
    if case .add(let number) = command { sum += number }
    return sum
  }
}

/// A number that is read, and written after a moment.
private final class Sum: Sendable {
  private let sum = Mutex(0)
  private let isAtomic: Bool

  init(isAtomic: Bool) { self.isAtomic = isAtomic }

  func run(_ command: SumModel.Command) async -> Int {
    guard case .add(let number) = command else { return sum.withLock { $0 } }
    if isAtomic {
      return sum.withLock {
        $0 += number
        return $0
      }
    }
    let before = sum.withLock { $0 }
    await Task.yield()
    sum.withLock { $0 = before + number }
    return before + number
  }
}

@Suite struct StatefulTests {
  @Test func `a system that does as its model passes`() async throws {
    let report = try await check(QueueModel.self, Budget(cases: 500, duration: .seconds(3_600)), seed: 1) {
      Ring(places: QueueModel.limit + 1)
    } run: {
      $1.run($0)
    }
    #expect(report.cases == 500)
  }

  @Test func `a full ring that looks empty is found, in as few commands as show it`() async throws {
    for seed: UInt64 in 0..<10 {
      let found = await #expect(throws: Counterexample.self) {
        try await check(QueueModel.self, seed: seed) {
          Ring(places: QueueModel.limit)
        } run: {
          $1.run($0)
        }
      }
      #expect(found?.source == "[.put(0), .put(0), .put(0), .put(0), .count]")
      #expect("\(found?.failure as Any)".contains("command 5, .count, responds 0, not 4"))
    }
  }

  @Test func `a counterexample can be carried out again`() async throws {
    await #expect(throws: WrongResponse.self) {
      try await replay(QueueModel.self, [.put(0), .put(0), .put(0), .put(0), .count]) {
        Ring(places: QueueModel.limit)
      } run: {
        $1.run($0)
      }
    }
  }

  @Test func `a sum without a lock is not linearizable, and one with a lock is`() async throws {
    try await checkConcurrently(SumModel.self, Budget(cases: 30, duration: .seconds(3_600)), seed: 1) {
      Sum(isAtomic: true)
    } run: {
      await $1.run($0)
    }
    let found = await #expect(throws: Counterexample.self) {
      try await checkConcurrently(SumModel.self, seed: 1, tries: 50) {
        Sum(isAtomic: false)
      } run: {
        await $1.run($0)
      }
    }
    #expect(found?.failure is NotLinearizable)
  }

  @Test func `histories are explained exactly if some order of them is allowed`() async throws {
    let call = zip(Gen<Bool>.bool, Gen<Int>.int(in: 0...2), Gen<Int>.int(in: 0...7), Gen<Int>.int(in: 1...6))
      .map {
        (isRead, response, start, length) in
        TimedCall(isRead ? SumModel.Command.read : .add(1), response, start: start, end: start + length)
      }
    let orders = permutations([0, 1, 2, 3])
    // Beside all orders of four calls.
    try await Property("histories", call.array(count: 4...4)) { history in
      let expected = orders.contains { order in
        var model = SumModel()
        return order.indices.allSatisfy { place in
          let call = history[order[place]]
          return order[(place + 1)...].allSatisfy { history[$0].end >= call.start }
            && model.apply(call.command) == call.response
        }
      }
      try ensureEqual(SumModel().explains(history), expected)
    }
    .cover("explained", atLeast: 3) { SumModel().explains($0) }
    .cover("not explained", atLeast: 30) { !SumModel().explains($0) }
    .check(Budget(cases: 2_000, duration: .seconds(3_600)), seed: 1)
  }

  private func permutations(_ list: [Int]) -> [[Int]] {
    guard list.count > 1 else { return [list] }
    return list.indices.flatMap { index in
      var rest = list
      let first = rest.remove(at: index)
      return permutations(rest).map { [first] + $0 }
    }
  }
}
