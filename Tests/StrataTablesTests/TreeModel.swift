// A model of a tree, which is a sorted array, and random keys and values to fill both with.

import StrataTables
import StrataSimulation

/// Entries in ascending order of their keys.
struct TreeModel: Equatable {
  var keys: [[UInt8]] = []
  var values: [[UInt8]] = []

  func place(_ key: [UInt8]) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < keys.count && keys[low] == key)
  }

  mutating func set(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    let (index, isFound) = place(key)
    if isFound {
      values[index] = value
    } else {
      keys.insert(key, at: index)
      values.insert(value, at: index)
    }
    return !isFound
  }

  mutating func remove(_ key: [UInt8]) -> Bool {
    let (index, isFound) = place(key)
    if isFound {
      keys.remove(at: index)
      values.remove(at: index)
    }
    return isFound
  }
}

extension Tree {
  mutating func set(_ key: [UInt8], _ value: [UInt8]) -> Bool {
    key.withUnsafeBytes { key in value.withUnsafeBytes { set(key, $0) } }
  }

  mutating func remove(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { remove($0) } }

  func rank(of key: [UInt8]) -> (rank: Int, isFound: Bool) { key.withUnsafeBytes { rank(of: $0) } }

  func value(of key: [UInt8]) -> [UInt8]? {
    key.withUnsafeBytes { withValue(of: $0) { $0.map(Array.init) } }
  }

  /// The entries of the tree, read by a scan.
  var model: TreeModel {
    var model = TreeModel()
    forEach(in: 0..<count) { key, value in
      model.keys.append(Array(key))
      model.values.append(Array(value))
    }
    return model
  }

  init(building model: TreeModel, pageSize: Int) {
    var builder = Builder(pageSize: pageSize)
    for (key, value) in zip(model.keys, model.values) {
      key.withUnsafeBytes { key in value.withUnsafeBytes { builder.append(key, $0) } }
    }
    self = builder.finish()
  }
}

/// Random keys and values of many shapes.
struct TreeRandomness {
  var random: SeededGenerator
  /// The approximate number of different keys.
  var keyCount: Int
  private var pool: [[UInt8]] = []
  /// The last key of a run of insertions in order.
  private var running = 0

  init(seed: UInt64, keyCount: Int, longKeys: Bool) {
    random = SeededGenerator(seed: seed)
    self.keyCount = keyCount
    let prefixes = (0..<6).map { number -> [UInt8] in
      let length = longKeys && number == 5 ? Int.random(in: 1000...5000, using: &random) : number * 4
      return bytes(length, zeros: number % 2 == 0)
    }
    for _ in 0..<keyCount {
      var key = prefixes.randomElement(using: &random)!
      key += bytes(Int.random(in: 0...20, using: &random), zeros: Bool.random(using: &random))
      pool.append(key)
    }
    pool[0] = []
  }

  /// Random bytes, either of a small alphabet, so that keys have much in common, or of all values.
  mutating func bytes(_ count: Int, zeros: Bool) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...(zeros ? 1 : 255), using: &random) }
  }

  mutating func key() -> [UInt8] {
    guard Int.random(in: 0..<4, using: &random) == 0 else { return pool.randomElement(using: &random)! }
    // A run in ascending order, as events arrive.
    running += 1
    return [7] + withUnsafeBytes(of: UInt32(running % keyCount).bigEndian) { Array($0) }
  }

  mutating func value(large: Bool) -> [UInt8] {
    let length =
      switch Int.random(in: 0..<100, using: &random) {
      case 0 where large: Int.random(in: 10_000...100_000, using: &random)
      case 0..<6: 0
      case 6..<12: Int.random(in: 60...200, using: &random)
      default: Int.random(in: 0...40, using: &random)
      }
    return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: length)
  }
}
