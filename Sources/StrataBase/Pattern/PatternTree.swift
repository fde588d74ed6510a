// A parsed pattern: nodes that refer to each other by their numbers.

/// The nodes of a pattern, children before their parents. Nothing here is recursive, so that a tree of any shape can
/// be made and released on any stack.
struct PatternTree: Sendable {
  /// What holds between two scalars.
  enum Assertion: Hashable, Sendable {
    case start, end, wordBoundary, noWordBoundary
  }

  enum Node: Sendable {
    case set(Int)
    case assertion(Assertion)
    case sequence([Int])
    case choice([Int])
    /// At least and at most that many of a node; without a limit if `most` is nil.
    case repetition(Int, least: Int, most: Int?)
  }

  private(set) var nodes: [Node] = []
  /// For each node, the number of states that it is expanded to.
  private(set) var sizes: [Int] = []
  private(set) var sets: [ScalarSet] = []
  private var numbers: [ScalarSet: Int] = [:]
  /// The whole pattern.
  var root = 0

  /// Adds a node and returns its number.
  mutating func add(_ node: Node) -> Int {
    nodes.append(node)
    sizes.append(size(of: node))
    return nodes.count - 1
  }

  mutating func add(_ set: ScalarSet) -> Int {
    if let number = numbers[set] { return add(.set(number)) }
    numbers[set] = sets.count
    sets.append(set)
    return add(.set(sets.count - 1))
  }

  /// The number of states of a node whose children are in the tree. Each is at least one, so that an expansion takes
  /// no more steps than it has states.
  private func size(of node: Node) -> Int {
    switch node {
    case .set, .assertion: 1
    case .sequence(let parts): parts.reduce(1) { $0 + sizes[$1] }
    case .choice(let parts): parts.reduce(0) { $0 + sizes[$1] + 2 }
    case .repetition(let part, let least, nil): max(least, 1) * sizes[part] + 2
    case .repetition(let part, let least, let most?):
      least * sizes[part] + (most - least) * (sizes[part] + 1) + 1
    }
  }
}
