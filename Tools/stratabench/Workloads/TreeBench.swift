// Measures the operations of one tree, one after the other.

internal import Foundation
internal import StrataTables
internal import StrataSimulation

/// The times of the operations of a tree, for one shape and page size.
struct TreeBench {
  let shape: TreeShape
  let count: Int
  let pageSize: Int
  private var random = SeededGenerator(seed: 7)
  /// The indices of keys in random order.
  private var order: [Int]
  /// The time in the key of each index.
  private var times: [UInt64]
  private var rows: [(String, Double)] = []
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

  /// The processor time per operation in nanoseconds.
  private func time(_ operations: Int, _ body: () -> Void) -> Double {
    ProcessorTime.of(body) / Double(max(1, operations)) * 1e9
  }

  /// The keys of some indices, encoded in advance so that encoding is not measured.
  private func keys(_ indices: some Sequence<Int>) -> FlatKeys {
    let keys = FlatKeys()
    var key = TreeKey()
    for index in indices {
      key.fill(shape, index, time: times[index])
      key.lend { keys.append($0) }
    }
    return keys
  }

  /// Measures building a tree in bulk from sorted keys.
  private mutating func build() -> Tree {
    let keys = keys(0..<count).sorted()
    let value = Self.value(shape, 1)
    var builder = Tree.Builder(pageSize: pageSize)
    let start = ProcessorTime.now()
    keys.forEach { key in value.withUnsafeBytes { builder.append(key, $0) } }
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

  /// Measures inserting in random order into a tree that shares no pages.
  private mutating func fill() -> Tree {
    var tree = Tree(pageSize: pageSize)
    let value = Self.value(shape, 1)
    let keys = keys(order)
    let start = ProcessorTime.now()
    keys.forEach { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
    rows.append(("insert random, 0 -> \(count)", start.seconds / Double(count) * 1e9))
    rows.append(("bytes an entry, random", Double(tree.statistics.bytesAllocated) / Double(count)))
    return tree
  }

  private mutating func reads(_ tree: Tree) {
    let few = min(count, 300_000)
    let indices = (0..<few).map { _ in Int.random(in: 0..<count, using: &random) }
    let keys = keys(indices)
    var sum = 0
    let lookup = time(few) { keys.forEach { tree.withValue(of: $0) { sum &+= Int($0![1]) } } }
    let rank = time(few) { keys.forEach { sum &+= tree.rank(of: $0).rank } }
    let select = time(few) {
      for index in indices { tree.withEntry(at: index) { key, value in sum &+= Int(key[0]) } }
    }
    rows += [("lookup", lookup), ("rank", rank), ("select", select)]
    sink &+= sum
  }

  private mutating func changes(_ tree: inout Tree) {
    let few = min(count, 300_000)
    let value = Self.value(shape, 2)
    let fresh = keys(Array(count..<count + few).shuffled(using: &random))
    let start = ProcessorTime.now()
    fresh.forEach { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
    rows.append(("insert into the full tree", start.seconds / Double(few) * 1e9))
    let middle = ProcessorTime.now()
    fresh.forEach { _ = tree.remove($0) }
    rows.append(("delete", middle.seconds / Double(few) * 1e9))
  }

  /// Measures changes while the version before each is kept. Runs twice, so that the memory is warm the second time.
  private mutating func snapshots(_ start: Tree) {
    let few = min(count / 20, 20_000)
    let value = Self.value(shape, 3)
    let fresh = keys(Array(count..<count * 2).shuffled(using: &random).prefix(few))
    let present = keys(order.prefix(few))
    var versions: [Tree] = []
    versions.reserveCapacity(few + 1)
    func measure(_ first: Tree, _ keys: FlatKeys, _ change: (inout Tree, UnsafeRawBufferPointer) -> Void)
      -> Double
    {
      var time = 0.0
      for _ in 0..<2 {
        versions.removeAll(keepingCapacity: true)
        var tree = first
        let start = ProcessorTime.now()
        keys.forEach { key in
          versions.append(tree)
          change(&tree, key)
        }
        time = start.seconds / Double(few) * 1e9
        versions.append(tree)
      }
      return time
    }
    func set(_ tree: inout Tree, _ key: UnsafeRawBufferPointer) {
      value.withUnsafeBytes { _ = tree.set(key, $0) }
    }
    let insert = measure(start, fresh, set)
    let last = versions[few]
    let alone = Tree.statistics(of: [start]).bytesAllocated
    let bytes = Double(Tree.statistics(of: versions).bytesAllocated - alone) / Double(few)
    let fall = ProcessorTime.now()
    versions.removeAll(keepingCapacity: true)
    let release = fall.seconds / Double(few) * 1e9
    let update = measure(start, present, set)
    let delete = measure(last, fresh) { tree, key in _ = tree.remove(key) }
    rows += [
      ("insert after a snapshot", insert), ("update after a snapshot", update),
      ("delete after a snapshot", delete), ("bytes a version", bytes), ("release a version", release),
    ]
  }

  private mutating func differences(_ start: Tree) {
    let value = Self.value(shape, 4)
    var tree = start
    let keys = keys(order.prefix(10_000))
    var done = 0
    for changes in [1, 10, 1000, 10_000] where changes <= count {
      while done < changes {
        keys[done].withUnsafeBytes { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
        done += 1
      }
      var found = 0
      let repeats = max(1, 2000 / changes)
      var samples: [Double] = []
      for _ in 0..<5 {
        samples.append(
          ProcessorTime.of {
            for _ in 0..<repeats { Tree.forEachDifference(from: start, to: tree) { _ in found += 1 } }
          } / Double(repeats))
      }
      precondition(found == changes * repeats * 5)
      rows.append(("difference of \(changes), µs", median(samples) * 1e6))
    }
  }
}

/// Keys stored one after the other in one allocation.
final class FlatKeys {
  private let stride = 32
  private var bytes: [UInt8] = []
  private var lengths: [UInt8] = []

  init() {}

  func append(_ key: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: key)
    bytes.append(contentsOf: repeatElement(0, count: stride - key.count))
    lengths.append(UInt8(key.count))
  }

  func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
    bytes.withUnsafeBytes { bytes in
      for index in lengths.indices {
        body(UnsafeRawBufferPointer(rebasing: bytes[index * stride..<index * stride + Int(lengths[index])]))
      }
    }
  }

  /// A copy of the key at an index, for code that is not measured.
  subscript(index: Int) -> [UInt8] { Array(bytes[index * stride..<index * stride + Int(lengths[index])]) }

  func sorted() -> FlatKeys {
    let result = FlatKeys()
    for key in lengths.indices.map({ self[$0] }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      key.withUnsafeBytes { result.append($0) }
    }
    return result
  }
}
