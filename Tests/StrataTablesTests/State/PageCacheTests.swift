// The bound on saved pages in memory, and threads that read while pages are dropped.

internal import Foundation
internal import StrataBase
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PageCacheTests {
  private static func model(_ count: Int) -> TreeModel {
    var model = TreeModel()
    for index in 0..<count {
      model.keys.append(withUnsafeBytes(of: UInt32(index).bigEndian) { Array("key ".utf8) + Array($0) })
      model.values.append([UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 40))
    }
    return model
  }

  @Test(.serialized, arguments: [0, 10_000, 100_000])
  func `fault 74: No more leaves stay in memory than the bound allows, in whatever order they are read`(
    limit: Int
  )
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let model = Self.model(20_000)
    let disk = try PageDisk()
    let saved = try disk.write(Tree(building: model, pageSize: 1024))
    let cache = PageCache(limit: limit)
    let tree = try disk.open(saved, from: disk.reader(cache: cache), healing: nil)
    for _ in 0..<4_000 {
      let index = Int.random(in: 0..<model.keys.count, using: &random)
      #expect(tree.value(of: model.keys[index]) == model.values[index])
      // The page that was just read may be one too many.
      #expect(cache.statistics.byteCount <= limit + 2_000)
    }
    #expect(cache.statistics.dropCount > 1_000)
    // One long walk, of which each leaf may be freed when the next one is read. Reads of other tests, which go on at the
    // same time, may keep it for a while; but a walk that kept its leaves itself would keep all of them.
    let all = saved.tree.statistics.leafBytesAllocated
    var least = Int.max
    for _ in 0..<50 where least > limit + all * 7 / 8 {
      var (most, index) = (0, 0)
      tree.forEach(in: 0..<tree.count) { _, _ in
        index += 1
        if index % 1_000 == 0 { Thread.sleep(forTimeInterval: 0.001) }
        most = max(most, cache.statistics.byteCount + cache.statistics.retiredByteCount)
      }
      least = min(least, most)
    }
    #expect(least <= limit + all * 7 / 8, "\(least) of \(all) bytes")
    #expect(tree.checkInvariants() == nil)
  }

  @Test func `What is looked into again and again stays`() throws {
    let model = Self.model(20_000)
    let disk = try PageDisk()
    let saved = try disk.write(Tree(building: model, pageSize: 1024))
    let cache = PageCache(limit: 100_000)
    let reader = try disk.reader(cache: cache)
    let tree = try disk.open(saved, from: reader, healing: nil)
    _ = tree.value(of: model.keys[7])
    var readAgain = 0
    for index in stride(from: 0, to: model.keys.count, by: 10) {
      _ = tree.value(of: model.keys[index])
      let before = reader.loaded.pages
      #expect(tree.value(of: model.keys[7]) == model.values[7])
      readAgain += reader.loaded.pages - before
    }
    // A page that is read for a moment when all pages were just used may take the place of any.
    #expect(readAgain <= 20, "\(readAgain) times")
  }

  @Test
  func `After a checkpoint the tree that was written is within the bound, and so are its later versions`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var model = Self.model(10_000)
    let disk = try PageDisk()
    let cache = PageCache(limit: 50_000)
    var tree = Tree(building: model, pageSize: 1024)
    var reader = try disk.reader(cache: cache)
    var saved: PageDisk.Saved?
    for _ in 0..<20 {
      let next = try disk.write(tree, since: saved)
      reader = try disk.reader(after: reader)
      disk.shelve(next, reader, healing: tree)
      saved = next
      let found = tree.statistics
      #expect(found.leafBytesAllocated <= 52_000, "\(found.leafBytesAllocated) bytes of leaves")
      for _ in 0..<50 {
        let index = Int.random(in: 0..<model.keys.count, using: &random)
        let value = [UInt8.random(in: 0...255, using: &random)]
        model.values[index] = value
        _ = tree.set(model.keys[index], value)
      }
    }
    #expect(tree.model == model && disk.faults.withLock { $0.count } == 0)
  }

  @Test func `The last version frees the leaves, the stubs and the files`() throws {
    let disk = try PageDisk()
    weak var weakReader: StateReader?
    let cache = PageCache(limit: 30_000)
    do {
      var tree = Tree(building: Self.model(3_000), pageSize: 512)
      let saved = try disk.write(tree)
      let reader = try disk.reader(cache: cache)
      weakReader = reader
      disk.shelve(saved, reader, healing: nil)
      _ = tree.set(Array("key".utf8), [1])
      #expect(cache.statistics.pageCount > 0)
    }
    #expect(cache.statistics.pageCount == 0 && cache.statistics.byteCount == 0)
    #expect(weakReader == nil)
    // What was dropped is freed when somebody looks after the reads that were going on, also those of other tests.
    let isFree = PageReads.comesTrue {
      cache.releaseDropped()
      return cache.statistics.retiredByteCount == 0
    }
    #expect(isFree)
  }

  @Test func `What was moved while somebody read is freed after that read, even without its cache`()
    throws
  {
    let disk = try PageDisk()
    weak var weakReader: StateReader?
    do {
      // Reads count from the first cache of the process on.
      _ = PageCache(limit: 1)
      let reads = PageReads()
      do {
        let tree = Tree(building: Self.model(3_000), pageSize: 512)
        let saved = try disk.write(tree)
        let reader = try disk.reader(cache: PageCache(limit: 30_000))
        weakReader = reader
        disk.shelve(saved, reader, healing: nil)
        let moved = try disk.write(tree, since: saved, givingUp: Set(saved.stored.usage.bytes.keys))
        disk.shelve(moved, try disk.reader(after: reader), healing: nil)
      }
      #expect(weakReader != nil, "a read that is going on may use the files")
      withExtendedLifetime(reads) {}
    }
    // Reads of other tests go on at the same time.
    let isFree = PageReads.comesTrue {
      PageCache.releaseMoved()
      return weakReader == nil
    }
    #expect(isFree)
  }

  @Test
  func
    `fault 73: Threads that read find their versions while others are written, moved and dropped from memory`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    // Each has thirty versions.
    let runs = StateRuns(parts: 10)
    while runs.next() {
      try Self.readWhileWriting(&random, limit: [0, 5_000, 50_000].randomElement(using: &random)!)
    }
  }

  private static func readWhileWriting(_ random: inout SeededGenerator, limit: Int) throws {
    let disk = try PageDisk()
    var model = model(2_000)
    var tree = Tree(building: model, pageSize: 512)
    var reader = try disk.reader(cache: PageCache(limit: limit))
    let versions = Lock([(tree: tree, model: model)])
    let (isDone, wrong) = (Lock(false), Lock(0))
    let seeds = (0..<3).map { _ in random.next() }
    let threads = try seeds.map { seed in
      try ThreadStarter.system.start("test-reader") {
        var random = SeededGenerator(seed: seed)
        while !isDone.withLock({ $0 }) {
          let (tree, model) = versions.withLock { $0.randomElement(using: &random)! }
          if !isRight(tree, model, &random) { wrong.withLock { $0 += 1 } }
        }
      }
    }
    var saved: PageDisk.Saved?
    for round in 0..<30 {
      for _ in 0..<Int.random(in: 0...200, using: &random) {
        let index = Int.random(in: 0..<model.keys.count, using: &random)
        model.values[index] = [UInt8.random(in: 0...255, using: &random)]
        _ = tree.set(model.keys[index], model.values[index])
      }
      let condemned = round % 3 == 2 ? Set(saved?.stored.usage.bytes.keys ?? [:].keys) : []
      let next = try disk.write(tree, since: saved, givingUp: condemned)
      reader = try disk.reader(after: reader)
      disk.shelve(next, reader, healing: nil)
      for file in condemned { disk.remove(file) }
      saved = next
      let version = (tree: tree, model: model)
      versions.withLock { versions in
        versions.append(version)
        if versions.count > 4 { versions.removeFirst() }
      }
    }
    isDone.withLock { $0 = true }
    for thread in threads { thread.join() }
    #expect(wrong.withLock { $0 } == 0)
    #expect(try tree.model == model && disk.wholeTree(saved!).model == model)
    #expect(disk.faults.withLock { $0.count } == 0)
  }

  private static func isRight(_ tree: Tree, _ model: TreeModel, _ random: inout SeededGenerator) -> Bool {
    var isRight = true
    for _ in 0..<20 {
      let index = Int.random(in: 0..<model.keys.count, using: &random)
      isRight = isRight && tree.value(of: model.keys[index]) == model.values[index]
      isRight = isRight && tree.rank(of: model.keys[index]) == (index, true)
    }
    let low = Int.random(in: 0..<model.keys.count, using: &random)
    var index = low
    tree.forEach(in: low..<min(model.keys.count, low + 100)) { key, value in
      isRight = isRight && key.elementsEqual(model.keys[index]) && value.elementsEqual(model.values[index])
      index += 1
    }
    return isRight
  }
}
