// The tree, compared with a sorted array, while its past versions are kept alive.

import StrataTables
import StrataSimulation
import Testing

/// One mix of page size, keys and values.
struct TreeCase: Sendable, CustomTestStringConvertible {
  var pageSize: Int
  var keyCount: Int
  var longKeys = false
  var largeValues = false
  var steps: Int

  var testDescription: String {
    "pages of \(pageSize), \(keyCount) keys\(longKeys ? ", long ones" : "")"
      + "\(largeValues ? ", large values" : "")"
  }

  static let all: [TreeCase] = {
    #if DEBUG
      let factor = 10
    #else
      let factor = StateRuns.isLong ? 1000 : 400
    #endif
    return [
      TreeCase(pageSize: 256, keyCount: 500, steps: 60 * factor),
      TreeCase(pageSize: 256, keyCount: 4000, longKeys: true, largeValues: true, steps: 32 * factor),
      TreeCase(pageSize: 512, keyCount: 2000, largeValues: true, steps: 60 * factor),
      TreeCase(pageSize: 1024, keyCount: 3000, longKeys: true, steps: 60 * factor),
      TreeCase(pageSize: 2048, keyCount: 4000, steps: 80 * factor),
      TreeCase(pageSize: 4096, keyCount: 3000, longKeys: true, largeValues: true, steps: 40 * factor),
      TreeCase(pageSize: 8192, keyCount: 8000, steps: 80 * factor),
    ]
  }()
}

@Suite("The tree") struct TreeTests {
  @Test func `an empty tree holds nothing`() {
    let tree = Tree()
    #expect(tree.count == 0 && tree.model == TreeModel() && tree.checkInvariants() == nil)
    #expect(tree.rank(of: [1]) == (0, false))
    #expect(tree.value(of: []) == nil)
    #expect(Tree(building: TreeModel(), pageSize: 256).count == 0)
  }

  @Test(arguments: TreeCase.all)
  func `A tree is its model, and every tree that was ever copied from it stays what it was`(_ mix: TreeCase)
    throws
  {
    let seed = SeededGenerator.testSeed()
    var history = TreeHistory(mix, seed: seed)
    for step in 0..<mix.steps {
      try history.step()
      if step % (mix.steps / 40) == 0 { try history.keep() }
    }
    try history.checkKept()
  }
}

/// A tree, its model, and past versions of both.
private struct TreeHistory {
  let mix: TreeCase
  var source: TreeRandomness
  var tree: Tree
  var model = TreeModel()
  var kept: [(tree: Tree, model: TreeModel)] = []
  /// The percentage of changes that are removals.
  var removals = 20

  init(_ mix: TreeCase, seed: UInt64) {
    self.mix = mix
    source = TreeRandomness(seed: seed, keyCount: mix.keyCount, longKeys: mix.longKeys)
    tree = Tree(pageSize: mix.pageSize)
  }

  /// Changes one key, and looks up another. A small tree is checked as a whole after each change, a large one
  /// sometimes.
  mutating func step() throws {
    let isChecked = model.keys.count < 300 || Int.random(in: 0..<256, using: &source.random) == 0
    TreeCheck.$isOn.withValue(isChecked) { change() }
    try #require(tree.count == model.keys.count)
    let other = source.key()
    let place = model.place(other)
    #expect(tree.rank(of: other) == (place.index, place.isFound))
    #expect(tree.value(of: other) == (place.isFound ? model.values[place.index] : nil))
  }

  private mutating func change() {
    let key = source.key()
    if Int.random(in: 0..<100, using: &source.random) < removals {
      let isRemoved = tree.remove(key)
      let wasThere = model.remove(key)
      #expect(isRemoved == wasThere)
    } else {
      let value = source.value(large: mix.largeValues)
      let isNew = tree.set(key, value)
      let wasNew = model.set(key, value)
      #expect(isNew == wasNew)
    }
  }

  /// Keeps this version, checks it, and continues from it or from an older one.
  mutating func keep() throws {
    try #require(tree.checkInvariants() == nil)
    try #require(tree.model == model)
    kept.append((tree, model))
    let past = kept.randomElement(using: &source.random)!
    checkDifference(past, (tree, model))
    checkDifference((tree, model), past)
    checkRange()
    if Int.random(in: 0..<5, using: &source.random) == 0 { (tree, model) = past }
    removals = [10, 20, 50, 80].randomElement(using: &source.random)!
    if kept.count % 13 == 0 { try removeAll() }
  }

  /// Removes half or all of the entries, so that pages are merged and the tree loses levels.
  private mutating func removeAll() throws {
    let left = Bool.random(using: &source.random) ? 0 : model.keys.count / 2
    let keys = model.keys.shuffled(using: &source.random).dropFirst(left)
    for key in keys {
      let isRemoved = tree.remove(key)
      let wasThere = model.remove(key)
      #expect(isRemoved && wasThere)
    }
    try #require(tree.checkInvariants() == nil)
    try #require(tree.model == model)
  }

  private mutating func checkRange() {
    let low = Int.random(in: 0...model.keys.count, using: &source.random)
    let high = Int.random(in: low...model.keys.count, using: &source.random)
    var index = low
    tree.forEach(in: low..<high) { key, value in
      #expect(key.elementsEqual(model.keys[index]) && value.elementsEqual(model.values[index]))
      index += 1
    }
    #expect(index == high)
    if low < model.keys.count {
      tree.withEntry(at: low) { key, value in
        #expect(key.elementsEqual(model.keys[low]) && value.elementsEqual(model.values[low]))
      }
      let prefix = Array(model.keys[low].prefix(Int.random(in: 0...5, using: &source.random)))
      let start = model.keys.firstIndex { $0.starts(with: prefix) }!
      let count = model.keys.count { $0.starts(with: prefix) }
      prefix.withUnsafeBytes { #expect(tree.ranks(withPrefix: $0) == start..<start + count) }
    }
  }

  /// Checks that the differences are those of the models, in order and with exact ranks, and that they turn the old
  /// tree into the new one.
  private func checkDifference(
    _ old: (tree: Tree, model: TreeModel), _ new: (tree: Tree, model: TreeModel)
  ) {
    var patched = old.tree
    var last: [UInt8]?
    var count = 0
    Tree.forEachDifference(from: old.tree, to: new.tree) { difference in
      let key = Array(difference.key)
      if let last { #expect(last.lexicographicallyPrecedes(key)) }
      last = key
      count += 1
      let (oldPlace, newPlace) = (old.model.place(key), new.model.place(key))
      #expect(difference.oldRank == oldPlace.index && difference.newRank == newPlace.index)
      #expect(
        difference.oldValue.map(Array.init) == (oldPlace.isFound ? old.model.values[oldPlace.index] : nil))
      #expect(
        difference.newValue.map(Array.init) == (newPlace.isFound ? new.model.values[newPlace.index] : nil))
      if let value = difference.newValue {
        patched.set(difference.key, value)
      } else {
        patched.remove(difference.key)
      }
    }
    #expect(patched.model == new.model)
    #expect(count == differences(old.model, new.model))
  }

  private func differences(_ old: TreeModel, _ new: TreeModel) -> Int {
    let before = Dictionary(uniqueKeysWithValues: zip(old.keys, old.values))
    let after = Dictionary(uniqueKeysWithValues: zip(new.keys, new.values))
    return before.count { after[$0.key] != $0.value } + after.count { before[$0.key] == nil }
  }

  func checkKept() throws {
    for (tree, model) in kept {
      try #require(tree.checkInvariants() == nil)
      #expect(tree.model == model)
      let built = Tree(building: model, pageSize: mix.pageSize)
      try #require(built.checkInvariants() == nil)
      #expect(built.model == model)
      Tree.forEachDifference(from: built, to: tree) { #expect(Bool(false), "\(Array($0.key)) differs") }
    }
  }
}
