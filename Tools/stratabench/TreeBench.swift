// The operations of one tree, timed one after the other.

internal import StrataLog
internal import StrataTables
internal import StrataTesting

/// A tree of one shape and page size, and how long its operations take.
struct TreeBench {
  let shape: TreeShape
  let count: Int
  let pageSize: Int
  private var random = SeededGenerator(seed: 7)
  /// The indices of keys in random order, and the time of each.
  private var order: [Int]
  private var times: [UInt64]
  private var rows: [(String, Double)] = []
  private var key = TreeKey()
  private var sink = 0

  init(_ shape: TreeShape, count: Int, pageSize: Int) {
    self.shape = shape
    self.count = count
    self.pageSize = pageSize
    var random = SeededGenerator(seed: 1)
    order = Array(0..<count).shuffled(using: &random)
    times = (0..<count * 2).map { _ in random.next() >> 4 }
  }

  static func value(_ shape: TreeShape, _ number: Int) -> [UInt8] {
    var value = [UInt8](repeating: 7, count: shape.valueLength)
    for place in 0..<4 { value[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
    return value
  }

  mutating func run() -> [(String, Double)] {
    let built = build()
    read(built)
    var tree = fill()
    reads(tree)
    changes(&tree)
    snapshots(tree)
    differences(tree)
    return rows
  }

  /// Nanoseconds an operation.
  private func time(_ operations: Int, _ body: () -> Void) -> Double {
    seconds(body) / Double(max(1, operations)) * 1e9
  }

  private func with(_ index: Int, _ key: inout TreeKey, _ body: (UnsafeRawBufferPointer) -> Void) {
    key.fill(shape, index, time: times[index])
    key.lend(body)
  }

  /// Bulk building of sorted keys.
  private mutating func build() -> Tree {
    var keys: [[UInt8]] = []
    var key = key
    for index in 0..<count { with(index, &key) { keys.append(Array($0)) } }
    keys.sort { $0.lexicographicallyPrecedes($1) }
    let value = Self.value(shape, 1)
    var builder = Tree.Builder(pageSize: pageSize)
    let start = MonotonicTime.now()
    for key in keys { key.withUnsafeBytes { key in value.withUnsafeBytes { builder.append(key, $0) } } }
    let tree = builder.finish()
    rows.append(("bulk build", start.seconds / Double(count) * 1e9))
    return tree
  }

  private mutating func read(_ tree: Tree) {
    var sum = 0
    let scan = time(count) {
      tree.forEach(in: 0..<tree.count) { key, value in sum &+= key.count &+ value.count &+ Int(key[0]) }
    }
    rows.append(("scan, an entry", scan))
    sink &+= sum
    rows.append(("bytes an entry, bulk", Double(tree.statistics.bytesAllocated) / Double(count)))
  }

  /// Inserting in random order, nothing shared.
  private mutating func fill() -> Tree {
    var tree = Tree(pageSize: pageSize)
    let value = Self.value(shape, 1)
    var key = key
    let start = MonotonicTime.now()
    for index in order { with(index, &key) { key in value.withUnsafeBytes { _ = tree.set(key, $0) } } }
    rows.append(("insert random, 0 -> \(count)", start.seconds / Double(count) * 1e9))
    rows.append(("bytes an entry, random", Double(tree.statistics.bytesAllocated) / Double(count)))
    return tree
  }

  private mutating func reads(_ tree: Tree) {
    let few = min(count, 300_000)
    let indices = (0..<few).map { _ in Int.random(in: 0..<count, using: &random) }
    var key = key
    var sum = 0
    let make = time(few) { for index in indices { with(index, &key) { sum &+= Int($0[3]) } } }
    let lookup = time(few) {
      for index in indices { with(index, &key) { tree.withValue(of: $0) { sum &+= Int($0![1]) } } }
    }
    let rank = time(few) { for index in indices { with(index, &key) { sum &+= tree.rank(of: $0).rank } } }
    let select = time(few) {
      for index in indices { tree.withEntry(at: index) { key, value in sum &+= Int(key[0]) } }
    }
    rows += [("making a key", make), ("lookup", lookup), ("rank", rank), ("select", select)]
    sink &+= sum
  }

  private mutating func changes(_ tree: inout Tree) {
    let few = min(count, 300_000)
    let value = Self.value(shape, 2)
    var key = key
    let base = count
    let fresh = Array(base..<base + few).shuffled(using: &random)
    let start = MonotonicTime.now()
    for index in fresh { with(index, &key) { key in value.withUnsafeBytes { _ = tree.set(key, $0) } } }
    rows.append(("insert into the full tree", start.seconds / Double(few) * 1e9))
    let middle = MonotonicTime.now()
    for index in fresh { with(index, &key) { _ = tree.remove($0) } }
    rows.append(("delete", middle.seconds / Double(few) * 1e9))
  }

  /// Each change with the version before it kept.
  private mutating func snapshots(_ start: Tree) {
    let few = min(count / 20, 20_000)
    let value = Self.value(shape, 3)
    var key = key
    let shape = shape
    func measure(_ name: String, _ first: Tree, _ change: (inout Tree, Int) -> Void) -> [Tree] {
      var kept: [Tree] = []
      kept.reserveCapacity(few)
      var tree = first
      let start = MonotonicTime.now()
      for step in 0..<few {
        kept.append(tree)
        change(&tree, step)
      }
      rows.append((name, start.seconds / Double(few) * 1e9))
      return kept + [tree]
    }
    let base = count
    var versions = measure("insert after a snapshot", start) { tree, step in
      key.fill(shape, base + step, time: times[base + step])
      key.lend { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
    }
    let alone = Tree.statistics(of: [start]).bytesAllocated
    let all = Tree.statistics(of: versions).bytesAllocated
    rows.append(("bytes a version", Double(all - alone) / Double(few)))
    let last = versions[few]
    let fall = MonotonicTime.now()
    versions.removeAll()
    rows.append(("release a version", fall.seconds / Double(few) * 1e9))
    _ = measure("update after a snapshot", start) { tree, step in
      key.fill(shape, order[step], time: times[order[step]])
      key.lend { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
    }
    _ = measure("delete after a snapshot", last) { tree, step in
      key.fill(shape, base + step, time: times[base + step])
      key.lend { _ = tree.remove($0) }
    }
  }

  private mutating func differences(_ start: Tree) {
    let value = Self.value(shape, 4)
    var tree = start
    var key = key
    var done = 0
    for changes in [1, 10, 1000, 10_000] where changes <= count {
      while done < changes {
        with(order[done], &key) { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
        done += 1
      }
      var found = 0
      let repeats = max(1, 2000 / changes)
      var samples: [Double] = []
      for _ in 0..<5 {
        samples.append(
          seconds {
            for _ in 0..<repeats { Tree.forEachDifference(from: start, to: tree) { _ in found += 1 } }
          } / Double(repeats))
      }
      precondition(found == changes * repeats * 5)
      rows.append(("difference of \(changes), µs", median(samples) * 1e6))
    }
  }
}
