// Trees whose pages are read when they are first looked into, compared with a sorted array.

internal import StrataBase
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct LazyTreeTests {
  @Test(arguments: [false, true])
  func
    `A tree that is read page by page is its model through reads, edits, checkpoints and garbage collection`(
      isDamaged: Bool
    ) throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (faults, pages, dropped) = (0, 0, 0)
    let runs = StateRuns()
    while runs.next() {
      var history = try LazyHistory(random.split())
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        if isDamaged { try history.damage() }
        try history.live()
        try history.save()
        pages += history.reader.loaded.pages
        dropped += history.reader.cache.statistics.dropCount
        if Bool.random(using: &random) { try history.reopen() } else { try history.resume() }
      }
      try history.checkHeld()
      faults += history.disk.faults.withLock { $0.count }
    }
    #expect(pages > 5 * runs.count, "\(pages) pages")
    #expect((faults > runs.count) == isDamaged, "\(faults) faults")
    #expect(dropped > 5 * runs.count, "\(dropped) pages dropped")
  }

  @Test(arguments: [false, true])
  func `Threads that read one tree at the same time all find the model`(isDamaged: Bool) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let parallel = Parallel(threads: .system, threadCountMax: 4)
    let runs = StateRuns()
    while runs.next() {
      var history = try LazyHistory(random.split())
      if isDamaged { try history.damage() }
      let (tree, model) = (history.tree, history.model)
      let seeds = (0..<4).map { _ in random.next() }
      let wrong = Lock(0)
      parallel.forEach(below: seeds.count) { part in
        var random = SeededGenerator(seed: seeds[part])
        var own = tree
        var isRight = part % 2 == 0 || own.model == model
        for _ in 0..<40 where !model.keys.isEmpty {
          let index = Int.random(in: 0..<model.keys.count, using: &random)
          isRight = isRight && tree.value(of: model.keys[index]) == model.values[index]
          isRight = isRight && tree.rank(of: model.keys[index]) == (index, true)
          if part == 3 { _ = own.set(model.keys[index], [UInt8(part)]) }
        }
        if !isRight { wrong.withLock { $0 += 1 } }
      }
      #expect(wrong.withLock { $0 } == 0)
      #expect(tree.model == model && tree.checkInvariants() == nil)
    }
  }

  @Test func `Statistics and tallies read nothing, and count the same before and after others read`() throws {
    let (disk, saved, model) = try Self.numbers(5_000)
    let reader = try disk.reader()
    let tree = try disk.open(saved, from: reader, healing: nil)
    var tally = PageTally()
    tally.add(tree)
    #expect(tree.statistics.unreadPages > 1 && tree.statistics.entries == 0)
    #expect(tally.bytes == tree.statistics.bytesAllocated)
    #expect(tree.checkInvariants() == nil)
    #expect(reader.loaded == StateReader.Loaded())
    #expect(tree.model == model)
    #expect(tree.statistics.unreadPages == 0 && tree.statistics.entries == model.keys.count)
    #expect(reader.loaded.pages > 100)
    #expect(tree.statistics.bytesAllocated > reader.loaded.bytes)
    tally.remove(tree)
    #expect(tally.bytes == 0)
  }

  @Test func `A lookup reads one page a level, and no page twice`() throws {
    let (disk, saved, model) = try Self.numbers(20_000)
    let reader = try disk.reader()
    let tree = try disk.open(saved, from: reader, healing: nil)
    #expect(tree.value(of: model.keys[7_777]) == model.values[7_777])
    #expect(reader.loaded.pages == tree.statistics.height)
    #expect(tree.rank(of: model.keys[7_777]).rank == 7_777)
    #expect(reader.loaded.pages == tree.statistics.height)
  }

  @Test func `A difference of two versions on disk reads what differs`() throws {
    let (disk, saved, model) = try Self.numbers(20_000)
    var changed = saved.tree
    _ = changed.set(model.keys[123], [1, 2, 3])
    let later = try disk.write(changed, since: saved)
    let reader = try disk.reader()
    let old = try disk.open(saved, from: reader, healing: nil)
    let new = try disk.open(later, from: reader, healing: nil)
    let same = try disk.open(saved, from: reader, healing: nil)
    Tree.forEachDifference(from: old, to: same) { #expect(Bool(false), "\(Array($0.key)) differs") }
    #expect(reader.loaded.pages == 0)
    var ranks: [Int] = []
    Tree.forEachDifference(from: old, to: new) { ranks.append($0.newRank) }
    #expect(ranks == [123])
    #expect(reader.loaded.pages == 2 * old.statistics.height)
    // Another reader may have other files under the same numbers.
    let other = try disk.open(saved, from: disk.reader(), healing: nil)
    Tree.forEachDifference(from: old, to: other) { #expect(Bool(false), "\(Array($0.key)) differs") }
    #expect(old.statistics.unreadPages == 0)
  }

  @Test func `A checkpoint after one change reads and writes one page a level`() throws {
    let (disk, saved, model) = try Self.numbers(20_000)
    let reader = try disk.reader()
    var tree = try disk.open(saved, from: reader, healing: nil)
    let opened = PageDisk.Saved(tree: tree, stored: saved.stored, bytesWritten: 0, pagesWritten: 0)
    _ = tree.set(model.keys[5], [9])
    let height = tree.statistics.height
    let later = try disk.write(tree, since: opened)
    #expect(later.pagesWritten == height + 1 && reader.loaded.pages == height)
    #expect(try later.stored.usage == PageUsage(all: tree))
  }

  @Test
  func `A tree that nobody else holds is edited as any other, and the last one of it frees what was read`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let (disk, saved, numbers) = try Self.numbers(400)
    var model = numbers
    weak var weakReader: StateReader?
    do {
      let reader = try disk.reader()
      weakReader = reader
      var tree = try disk.open(saved, from: reader, healing: nil)
      for step in 0..<600 {
        let key = numbers.keys.randomElement(using: &random)!
        TreeCheck.$isOn.withValue(true) {
          if step % 3 == 0 {
            _ = tree.remove(key)
          } else {
            _ = tree.set(key, [UInt8(truncatingIfNeeded: step)])
          }
        }
        if step % 3 == 0 {
          _ = model.remove(key)
        } else {
          _ = model.set(key, [UInt8(truncatingIfNeeded: step)])
        }
      }
      #expect(tree.model == model)
      #expect(try disk.wholeTree(disk.write(tree)).model == model)
      tree = Tree()
    }
    #expect(weakReader == nil)
  }

  @Test func `Files that are given up can go while nobody has read their pages`() throws {
    let (disk, saved, model) = try Self.numbers(5_000)
    let reader = try disk.reader()
    let held = try disk.open(saved, from: reader, healing: nil)
    let moved = try disk.write(
      held, since: PageDisk.Saved(tree: held, stored: saved.stored, bytesWritten: 0, pagesWritten: 0),
      givingUp: Set(saved.stored.usage.bytes.keys))
    #expect(Set(moved.stored.usage.bytes.keys).isDisjoint(with: saved.stored.usage.bytes.keys))
    let late = try disk.open(saved, from: disk.reader(), healing: nil)
    for file in saved.stored.usage.bytes.keys { disk.remove(file) }
    #expect(late.model == model && held.model == model)
    #expect(try disk.wholeTree(moved).model == model)
    #expect(disk.faults.withLock { $0.count } == 0)
  }

  static func numbers(_ count: Int) throws -> (PageDisk, PageDisk.Saved, TreeModel) {
    var model = TreeModel()
    for index in 0..<count {
      model.keys.append(withUnsafeBytes(of: UInt32(index).bigEndian) { Array("key ".utf8) + Array($0) })
      model.values.append([UInt8(truncatingIfNeeded: index), 7])
    }
    let disk = try PageDisk()
    return (disk, try disk.write(Tree(building: model, pageSize: 512)), model)
  }
}

/// A tree that is written and opened again and again, and its model.
private struct LazyHistory {
  let disk: PageDisk
  var random: SeededGenerator
  var source: TreeRandomness
  var tree: Tree
  var model = TreeModel()
  var reader: StateReader
  /// The tree as it was opened, another opening of it, and its model.
  private var opened: (tree: Tree, twin: Tree, model: TreeModel)
  private var saved: PageDisk.Saved
  private var savedModel = TreeModel()
  /// Versions that somebody holds, and their models.
  private var held: [(tree: Tree, model: TreeModel)] = []
  private var damaged: Set<UInt32> = []
  private let largeValues: Bool
  private let pageSize: Int

  init(_ random: SeededGenerator) throws {
    self.random = random
    disk = try PageDisk()
    let keyCount = [3, 30, 300, 900].randomElement(using: &self.random)!
    let longKeys = Int.random(in: 0..<8, using: &self.random) == 0
    largeValues = Int.random(in: 0..<8, using: &self.random) == 0
    pageSize = [256, 512, 1024].randomElement(using: &self.random)!
    source = TreeRandomness(seed: self.random.next(), keyCount: keyCount, longKeys: longKeys)
    tree = Tree(pageSize: pageSize)
    for _ in 0..<keyCount {
      let (key, value) = (source.key(), source.value(large: largeValues))
      _ = tree.set(key, value)
      _ = model.set(key, value)
    }
    if Bool.random(using: &self.random) { tree = Tree(building: model, pageSize: pageSize) }
    saved = try disk.write(tree)
    savedModel = model
    let limit = [0, 2_000, 20_000, 1 << 30].randomElement(using: &self.random)!
    reader = try disk.reader(cache: PageCache(limit: limit))
    opened = (tree, tree, model)
    try reopen()
  }

  mutating func damage() throws { damaged = try disk.damage(&random) }

  /// Opens what was written last. Half of the time pages that are lost come from a tree of another shape.
  mutating func reopen() throws {
    reader = try disk.reader(cache: reader.cache)
    damaged = []
    model = savedModel
    var healing = Tree(building: model, pageSize: pageSize)
    if Bool.random(using: &random) {
      healing = Tree(pageSize: pageSize)
      for index in model.keys.indices.shuffled(using: &random) {
        _ = healing.set(model.keys[index], model.values[index])
      }
    }
    tree = try disk.open(saved, from: reader, healing: healing)
    opened = (tree, try disk.open(saved, from: reader, healing: healing), model)
    saved.tree = tree
    #expect(tree.count == model.keys.count)
  }

  /// Goes on with the tree that was written.
  mutating func resume() throws {
    damaged = []
    opened = (saved.tree, try disk.open(saved, from: reader, healing: saved.tree), savedModel)
    if held.count < 3 { held.append((saved.tree, savedModel)) }
  }

  func checkHeld() throws {
    for (tree, model) in held {
      #expect(tree.model == model)
      #expect(tree.checkInvariants() == nil)
    }
  }

  /// Reads and edits.
  mutating func live() throws {
    let steps = Int.random(in: 0...60, using: &random)
    let removals = [10, 40, 95].randomElement(using: &random)!
    for _ in 0..<steps {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: checkReads()
      case 1 where !model.keys.isEmpty: checkScan()
      default:
        let isChecked = model.keys.count < 100 || Int.random(in: 0..<16, using: &random) == 0
        TreeCheck.$isOn.withValue(isChecked) { change(removals) }
      }
    }
    try checkDifference(opened.tree)
    try checkDifference(opened.twin)
    if Bool.random(using: &random) { #expect(tree.model == model) }
    #expect(tree.checkInvariants() == nil)
    if Int.random(in: 0..<4, using: &random) == 0 { #expect(opened.tree.model == opened.model) }
  }

  private mutating func change(_ removals: Int) {
    let isOld = !model.keys.isEmpty && Int.random(in: 0..<3, using: &random) > 0
    let key = isOld ? model.keys.randomElement(using: &random)! : source.key()
    if Int.random(in: 0..<100, using: &random) < removals {
      let isRemoved = tree.remove(key)
      let wasThere = model.remove(key)
      #expect(isRemoved == wasThere)
    } else {
      let value = source.value(large: largeValues)
      let isNew = tree.set(key, value)
      let wasNew = model.set(key, value)
      #expect(isNew == wasNew)
    }
  }

  private mutating func checkReads() {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    for _ in 0..<12 {
      let key = source.key()
      let place = model.place(key)
      #expect(tree.rank(of: key) == (place.index, place.isFound))
      #expect(tree.value(of: key) == (place.isFound ? model.values[place.index] : nil))
      ranges.append(bytes.count..<bytes.count + key.count)
      bytes += key
    }
    let ranks = bytes.withUnsafeBytes { tree.ranks(of: ranges, in: $0).ranks }
    #expect(ranks == ranges.map { model.place(Array(bytes[$0])).index })
  }

  private mutating func checkScan() {
    let low = Int.random(in: 0..<model.keys.count, using: &random)
    let high = min(model.keys.count, low + Int.random(in: 0...50, using: &random))
    var index = low
    tree.forEach(in: low..<high) { key, value in
      #expect(key.elementsEqual(model.keys[index]) && value.elementsEqual(model.values[index]))
      index += 1
    }
    #expect(index == high)
  }

  /// The differences turn the tree that was opened into the one that was edited.
  private func checkDifference(_ old: Tree) throws {
    var patched = opened.model
    Tree.forEachDifference(from: old, to: tree) { difference in
      let key = Array(difference.key)
      #expect(
        difference.newRank == model.place(key).index && difference.oldRank == opened.model.place(key).index)
      if let value = difference.newValue {
        _ = patched.set(key, Array(value))
      } else {
        _ = patched.remove(key)
      }
    }
    #expect(patched == model)
  }

  /// Writes the tree, and gives up some files. Those that are damaged must be given up, as far as somebody noticed.
  mutating func save() throws {
    var condemned = disk.faults.withLock { $0.files }.intersection(damaged)
    let isCollecting = Int.random(in: 0..<3, using: &random) == 0
    for file in saved.stored.usage.bytes.keys where isCollecting && Bool.random(using: &random) {
      condemned.insert(file)
    }
    if !damaged.isEmpty { condemned.formUnion(damaged) }
    let next = try disk.write(tree, since: saved, givingUp: condemned)
    savedModel = model
    reader = try disk.reader(after: reader)
    // Nobody waits with a change until a checkpoint has ended.
    for _ in 0..<Int.random(in: 0...3, using: &random) { change(50) }
    disk.shelve(next, reader, healing: Tree(building: savedModel, pageSize: pageSize))
    let all = try PageUsage(all: next.tree)
    if damaged.isEmpty { #expect(next.stored.usage == all, "what is alive is counted wrongly") }
    #expect(condemned.isDisjoint(with: all.bytes.keys))
    saved = next
    saved.stored.usage = all
    for file in condemned { disk.remove(file) }
    #expect(try disk.wholeTree(saved).model == savedModel && next.tree.model == savedModel)
  }
}
