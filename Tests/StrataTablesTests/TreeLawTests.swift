// The laws of the tree that a model does not cover: shared pages, stable versions, and how full pages are.

import StrataTables
import StrataSimulation
import Testing

@Suite("The tree's laws") struct TreeLawTests {
  private func number(_ value: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(value).bigEndian) { Array("key ".utf8) + Array($0) }
  }

  private func tree(_ count: Int, value: [UInt8] = [1, 2, 3], pageSize: Int = 512) -> Tree {
    var tree = Tree(pageSize: pageSize)
    for index in 0..<count { _ = tree.set(number(index), value) }
    return tree
  }

  @Test func `setting an equal value and removing what is not there leave the tree the same pages`() {
    let before = tree(1000)
    var after = before
    var isNew = after.set(number(500), [1, 2, 3])
    let isRemoved = after.remove(number(5000))
    #expect(!isNew && !isRemoved)
    #expect(after.isIdentical(to: before))
    isNew = after.set(number(500), [1, 2, 4])
    #expect(!isNew)
    #expect(!after.isIdentical(to: before))
  }

  @Test func `a change copies one page a level`() {
    let before = tree(20_000)
    var after = before
    _ = after.set(number(777), [9])
    let pages = Tree.statistics(of: [before, after]).pages - before.statistics.pages
    #expect(pages == before.statistics.height + 1)
  }

  @Test func `a change beside a large value does not copy the large value`() {
    var before = tree(500)
    let large = [UInt8](repeating: 5, count: 1 << 20)
    _ = before.set(number(100) + [0], large)
    var after = before
    for neighbour in [number(100), number(101), number(100) + [0, 0], number(99) + [1]] {
      _ = after.set(neighbour, [7])
    }
    #expect(after.checkInvariants() == nil)
    let added =
      Tree.statistics(of: [before, after]).bytesAllocated - before.statistics.bytesAllocated
    #expect(added < 1 << 16)
    #expect(after.value(of: number(100) + [0]) == large)
  }

  @Test func `entries beside large values share pages`() {
    var tree = Tree(pageSize: 1024)
    for index in 0..<50 { _ = tree.set(number(index * 1000), [UInt8](repeating: 1, count: 5000)) }
    for index in (0..<2000).reversed() { _ = tree.set(number(index), [1]) }
    #expect(tree.checkInvariants() == nil)
    #expect(tree.statistics.leaves < 200)
  }

  @Test(arguments: [true, false])
  func `insertions in arrival order fill the pages of every section`(newestFirst: Bool) {
    var tree = Tree(pageSize: 1024)
    for index in 0..<20_000 {
      let order = newestFirst ? 1_000_000 - index : index
      _ = tree.set(Array("section \(index % 20 + 10) ".utf8) + number(order), [0, 0, 0, 0])
    }
    #expect(tree.checkInvariants() == nil)
    #expect(tree.statistics.fill > 0.85)
  }

  @Test(arguments: [false, true])
  func `removing most entries gives most pages back, also where the version before is kept`(isKept: Bool) {
    var tree = tree(10_000)
    let before = tree.statistics
    var kept = Tree()
    for index in 0..<10_000 where index % 20 != 0 {
      if isKept { kept = tree }
      _ = tree.remove(number(index))
    }
    #expect(kept.count == (isKept ? 501 : 0))
    #expect(tree.checkInvariants() == nil)
    #expect(tree.statistics.bytesAllocated < before.bytesAllocated / 4)
  }

  @Test func `the two sides of a split each keep what their own keys have in common once`() {
    var tree = Tree(pageSize: 1024)
    // The first page holds keys of both kinds, which have no common prefix.
    for index in 0..<2_000 {
      for letter in "ab".utf8 { _ = tree.set([UInt8](repeating: letter, count: 60) + number(index), [1]) }
    }
    #expect(tree.checkInvariants() == nil)
    #expect(tree.statistics.leafBytesUsed < 40 * tree.count)
  }

  @Test func `a key and the same key with a zero after it are two in a difference`() {
    let keys = (0..<100).map { number($0 * 3) + [1] }
    for changed in [0, 50, 99] {
      var (old, new) = (Tree(pageSize: 512), Tree(pageSize: 512))
      for (index, key) in keys.enumerated() {
        _ = old.set(key, [5])
        _ = new.set(index == changed ? key + [0] : key, [5])
      }
      var seen: [[UInt8]] = []
      Tree.forEachDifference(from: old, to: new) { difference in
        seen.append(Array(difference.key))
        #expect(
          (difference.oldValue == nil) == (seen.count == 2)
            && (difference.newValue == nil) == (seen.count == 1))
      }
      #expect(seen == [keys[changed], keys[changed] + [0]])
    }
  }

  @Test func `what is lent stays valid when the tree that lent it is replaced`() {
    var holder = tree(5000)
    var seen = 0
    let walked = holder
    holder.forEach(in: 0..<holder.count) { key, value in
      if seen % 500 == 0 {
        holder = Tree()
        holder = tree(10, value: [8, 8, 8])
      }
      #expect(key.elementsEqual(number(seen)) && value.elementsEqual([1, 2, 3]))
      seen += 1
    }
    #expect(seen == 5000 && walked.count == 5000)
    number(3).withUnsafeBytes { key in
      holder.withValue(of: key) { value in
        holder = Tree()
        #expect(value?.elementsEqual([8, 8, 8]) == true)
      }
    }
  }

  @Test func `ranks that are looked up together are those that are looked up alone`() {
    let tree = tree(3_000)
    for count in [0, 1, 7, 8, 9, 250] {
      var bytes: [UInt8] = []
      var keys: [Range<Int>] = []
      for index in 0..<count {
        let key = index % 3 == 0 ? [UInt8(truncatingIfNeeded: index)] : number(index * 7_919 % 3_100)
        keys.append(bytes.count..<bytes.count + key.count)
        bytes += key
      }
      let ranks = bytes.withUnsafeBytes { tree.ranks(of: keys, in: $0) }
      let alone = keys.map { tree.rank(of: Array(bytes[$0])) }
      #expect(ranks.ranks == alone.map(\.rank))
      #expect(ranks.areAllFound == alone.allSatisfy(\.isFound))
      let none = bytes.withUnsafeBytes { Tree().ranks(of: keys, in: $0) }
      #expect(none.ranks == keys.map { _ in 0 } && none.areAllFound == (count == 0))
    }
  }

  @Test func `the keys that begin with some bytes are found, also where these are FF`() {
    var tree = Tree(pageSize: 256)
    for first in [0, 7, 0xFE, 0xFF] as [UInt8] {
      for second in [0, 0xFE, 0xFF] as [UInt8] {
        for third in 0..<20 as Range<UInt8> { _ = tree.set([first, second, 0xFF - third], []) }
      }
    }
    let keys = tree.model.keys
    for prefix in [
      [], [7], [7, 0xFF], [0xFE], [0xFE, 0xFF], [0xFF], [0xFF, 0xFF], [8], [0xFF, 0xFF, 0xFF],
    ] as [[UInt8]] {
      let ranks = prefix.withUnsafeBytes { tree.ranks(withPrefix: $0) }
      #expect(keys[ranks].allSatisfy { $0.starts(with: prefix) })
      #expect(ranks.count == keys.count { $0.starts(with: prefix) }, "\(prefix)")
    }
  }

  @Test func `a change is lent the value that it changes, and may be called off`() {
    var tree = tree(300)
    let old = tree
    for key in [number(7), number(100_000)] {
      let before = tree
      var lent: [UInt8]?
      let isSet = tree.set(key, [9]) { value in
        lent = value.map { Array($0) }
        return false
      }
      #expect(!isSet && tree.isIdentical(to: before))
      #expect(lent == old.value(of: key))
      let isNew = tree.set(key, [9]) { _ in true }
      #expect(isNew == (old.value(of: key) == nil))
      #expect(tree.value(of: key) == [9])
      let isRemoved = tree.remove(key) { lent = Array($0) }
      #expect(isRemoved && lent == [9] && tree.value(of: key) == nil)
      let isRemovedAgain = tree.remove(key) { _ in lent = nil }
      #expect(!isRemovedAgain && lent == [9])
    }
    #expect(tree.count == 299 && old.count == 300 && tree.checkInvariants() == nil)
  }

  @Test func `differences stop at the error that the body throws`() {
    struct Enough: Error {}
    var seen = 0
    #expect(throws: Enough.self) {
      try Tree.forEachDifference(from: Tree(), to: tree(100)) { _ in
        seen += 1
        if seen == 3 { throw Enough() }
      }
    }
    #expect(seen == 3)
  }

  @Test func `keys of 65,535 bytes and empty keys and values are entries like others`() {
    var tree = Tree(pageSize: 256)
    let longest = [UInt8](repeating: 0, count: Tree.keyLengthMax)
    for length in [0, 1, 7, 8, 9, 100, 1000, 65_534, 65_535] {
      _ = tree.set(Array(longest[..<length]), [])
    }
    #expect(tree.checkInvariants() == nil)
    #expect(tree.rank(of: longest) == (8, true))
    #expect(tree.model.keys.map(\.count) == [0, 1, 7, 8, 9, 100, 1000, 65_534, 65_535])
    let isRemoved = tree.remove([])
    #expect(isRemoved && tree.count == 8)
  }
}

extension Tree {
  fileprivate mutating func set(
    _ key: [UInt8], _ value: [UInt8], where isWanted: (UnsafeRawBufferPointer?) -> Bool
  ) -> Bool {
    key.withUnsafeBytes { key in value.withUnsafeBytes { set(key, $0, where: isWanted) } }
  }

  fileprivate mutating func remove(
    _ key: [UInt8], _ willRemove: (UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    key.withUnsafeBytes { remove($0, willRemove) }
  }
}
