// The bytes of trees that share pages, counted while trees are added and removed.

internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PageTallyTests {
  private func set(_ key: Int, _ value: Int, in tree: inout Tree) {
    "key \(key)".withUTF8Bytes { key in "value \(value)".withUTF8Bytes { _ = tree.set(key, $0) } }
  }

  @Test
  func `Bytes that are kept while trees come and go are those of all their pages, each counted once`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var tally = PageTally()
    var kept: [Tree] = [Tree()]
    tally.add(kept[0])
    for step in 0..<400 {
      if kept.count > 1, Int.random(in: 0..<3, using: &random) == 0 {
        tally.remove(kept.remove(at: Int.random(in: 0..<kept.count, using: &random)))
      } else {
        var tree = kept.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 0...40, using: &random) {
          set(Int.random(in: 0..<500, using: &random), step, in: &tree)
        }
        kept.append(tree)
        tally.add(tree)
      }
      #expect(tally.bytes == Tree.statistics(of: kept).bytesAllocated)
    }
    for tree in kept { tally.remove(tree) }
    #expect(tally.bytes == 0)
  }
}

extension String {
  fileprivate func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(utf8).withUnsafeBytes(body)
  }
}
