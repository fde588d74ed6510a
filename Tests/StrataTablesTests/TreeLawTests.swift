// The laws of the tree that a model does not see: what is shared, what stays, how full pages are.

import StrataTables
import StrataTesting
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

  @Test func `removing most entries gives most pages back`() {
    var tree = tree(20_000)
    let before = tree.statistics
    for index in 0..<20_000 where index % 20 != 0 { _ = tree.remove(number(index)) }
    #expect(tree.checkInvariants() == nil)
    #expect(tree.statistics.bytesAllocated < before.bytesAllocated / 4)
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
