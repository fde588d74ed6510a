// Whether some order of concurrent operations explains their responses.

/// One operation of a history: what was called and returned, and when.
public struct TimedCall<Command: Sendable, Response: Sendable>: Sendable {
  public var command: Command
  public var response: Response
  /// Moments of a clock that only goes forward. An operation that ends before another one starts comes before it.
  public var start: Int
  public var end: Int

  public init(_ command: Command, _ response: Response, start: Int, end: Int) {
    (self.command, self.response, self.start, self.end) = (command, response, start, end)
  }
}

extension CommandModel {
  /// Whether the operations are linearizable: whether each can be given a moment between its start and its end, so that
  /// the model, going through them in the order of these moments, has the same responses (M. Herlihy, J. Wing,
  /// "Linearizability", 1990).
  ///
  /// The search is that of J. Wing and C. Gong ("Testing and Verifying Concurrent Objects", 1993), with the memory of
  /// G. Lowe ("Testing for Linearizability", 2016): a set of operations that led to a state is not tried twice. At worst
  /// exponential in the number of operations that overlap.
  /// - Precondition: there are at most 64 operations.
  public func explains(_ history: [TimedCall<Command, Response>]) -> Bool {
    precondition(history.count <= 64, "a history of more than 64 operations")
    let all: UInt64 = history.count == 64 ? .max : 1 << UInt64(history.count) - 1
    var visited: Set<Visited<Self>> = []
    var stack = [Visited(done: 0, model: self)]
    while let next = stack.popLast() {
      if next.done == all { return true }
      let open = history.indices.filter { next.done & (1 << UInt64($0)) == 0 }
      // The next operation starts before any other open one ends.
      let firstEnd = open.map { history[$0].end }.min() ?? 0
      for index in open where history[index].start <= firstEnd {
        var model = next.model
        guard model.apply(history[index].command) == history[index].response else { continue }
        let reached = Visited(done: next.done | 1 << UInt64(index), model: model)
        if visited.insert(reached).inserted { stack.append(reached) }
      }
    }
    return false
  }
}

/// Which operations are done, as bits, and the state that they led to.
private struct Visited<Model: CommandModel>: Hashable {
  var done: UInt64
  var model: Model
}
