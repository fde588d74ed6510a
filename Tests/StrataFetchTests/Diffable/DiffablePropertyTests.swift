// Random changes of snapshots, compared with a naive model, and random pairs of snapshots.

internal import Foundation
@testable internal import StrataLists
@testable internal import StrataViews
internal import StrataTesting
internal import TestModels
internal import Testing

@Suite struct DiffablePropertyTests {
  #if DEBUG
    static let runCount = 10_000
  #else
    /// The number of runs, at least 10,000. Set by the environment variable `RUNS`.
    static let runCount = max(
      10_000, ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 20_000)
  #endif

  @Test
  func `R2 A snapshot does what arrays do, whatever is called, and a call that throws changes nothing`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var seen: [String: Int] = [:]
    for number in 0..<Self.runCount {
      await Task.yield()
      // A few sections are so large that items are shifted farther than the search distance.
      var run = DiffableRun(random: random.split(), isLarge: number % 500 == 0)
      try run.run(steps: Int.random(in: 1...10, using: &random), &seen)
    }
    let expected =
      DiffableRun.operations + [
        "noSections", "unknownSection", "unknownItem", "duplicateSection", "duplicateItem",
      ]
    #expect(expected.filter { seen[$0, default: 0] < 100 } == [], "\(seen)")
  }

  @Test
  func `R24 The changes between any two snapshots make the second one of the first, and keep every law`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var seen: [String: Int] = [:]
    for number in 0..<Self.runCount {
      await Task.yield()
      var run = DiffableRun(random: random.split(), isLarge: number % 500 == 0)
      try run.run(steps: Int.random(in: 0...6, using: &random), &seen)
      let old = run
      switch number % 3 {
      case 0: try run.run(steps: Int.random(in: 1...8, using: &random), &seen)
      case 1: run.shuffle()
      default: run = DiffableRun(random: random.split(), isLarge: false)
      }
      let changes = ListChanges(from: old.snapshot, to: run.snapshot)
      let broken = DiffableLaws(old.model, run.model).broken(by: changes)
      try #require(broken == [], "\(old.snapshot)\n\(run.snapshot)\n\(changes)")
      let applied = try old.snapshot.applying(changes)
      try #require(applied == run.snapshot)
      try #require(ListChanges(from: old.snapshot, to: run.snapshot) == changes)
      try checkInPlace(old, run, changes, isKept: number % 2 == 0)
      let back = ListChanges(from: run.snapshot, to: applied)
      try #require(!back.isStructural)
      // Changes fit only the snapshot that they start from, or one that is equal wherever they apply.
      if old.snapshot != run.snapshot, changes.moves.count + changes.deletions.count > 0 {
        #expect(throws: DiffableSnapshotError.self) { try DiffableSnapshot<Int, Int>().applying(changes) }
      }
    }
  }
}

extension DiffablePropertyTests {
  /// Changes applied in place give the same result, with a correct index of items, and do not change a copy.
  private func checkInPlace(
    _ old: DiffableRun, _ new: DiffableRun, _ changes: ListChanges<Int, Int>, isKept: Bool
  ) throws {
    var snapshot = old.snapshot
    let kept = isKept ? snapshot : nil
    try snapshot.apply(changes)
    var model = new.model
    (model.marks, model.sectionMarks) = ([:], [])
    try #require(model.differences(snapshot, lookups: 0..<new.itemMax + 2) == [], "\(changes)")
    if let kept { try #require(old.model.differences(kept, lookups: 0..<old.itemMax + 2) == []) }
    // A batch that does not fit changes nothing.
    let before = snapshot
    do throws(DiffableSnapshotError) { try snapshot.apply(changes) } catch {
      try #require(model.differences(snapshot, lookups: 0..<new.itemMax + 2) == [], "\(error)")
    }
    // Further changes can be applied afterwards.
    snapshot = before
    snapshot.deleteItems(Array(model.items.prefix(3)))
    snapshot.appendSections([77])
    snapshot.appendItems(Array(model.items.suffix(2)) + [999], toSection: 77)
    model.delete(Array(model.items.prefix(3)))
    try model.appendSections([77])
    let items = Array(before.itemIdentifiers.suffix(2)) + [999]
    try model.append(items, 77)
    try #require(model.differences(snapshot, lookups: 0..<new.itemMax + 2) == [])
  }
}

/// A snapshot and the model, changed in parallel.
struct DiffableRun {
  static let operations = [
    "append", "insert", "move", "delete", "delete all", "replace", "remove where", "reload", "reconfigure",
    "append sections", "insert sections", "move section", "delete sections", "reload sections",
  ]

  var snapshot = DiffableSnapshot<Int, Int>()
  var model = ModelSnapshot()
  private var random: SeededGenerator
  private let isLarge: Bool
  var itemMax: Int { isLarge ? 400 : 24 }

  init(random: SeededGenerator, isLarge: Bool) {
    self.random = random
    self.isLarge = isLarge
    let ids = Array(0..<itemMax).shuffled(using: &self.random)
    var rest = ids.prefix(Int.random(in: isLarge ? 200...itemMax : 0...itemMax, using: &self.random))
    for section in Array(0..<8).shuffled(using: &self.random).prefix(number(isLarge ? 1...3 : 0...6)) {
      let items = Array(rest.prefix(number(0...(isLarge ? 200 : 8))))
      rest = rest.dropFirst(items.count)
      model.sections.append(.init(id: section, items: items))
    }
    snapshot = DiffableSnapshot(sections: model.sections.map { ($0.id, $0.items) })
    if number(0...1) == 0 { snapshot = DiffableSnapshot(unchecked: snapshot.sections) }
  }

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func items() -> [Int] {
    let many = isLarge && number(0...3) == 0
    return (0..<number(0...(many ? 60 : 4))).map { _ in number(0...itemMax + 2) }
  }
  private mutating func sections() -> [Int] { (0..<number(0...3)).map { _ in number(0...9) } }
  private mutating func item() -> Int { model.items.randomElement(using: &random) ?? 0 }

  mutating func run(steps: Int, _ seen: inout [String: Int]) throws {
    var kept = (snapshot, model)
    for _ in 0..<steps {
      let (before, modelBefore) = (snapshot, model)
      let operation = Self.operations.randomElement(using: &random)!
      // A copy is kept, so that the change is one of shared memory.
      if number(0...1) == 0 { kept = (before, modelBefore) }
      var failure: DiffableSnapshotError?
      do throws(DiffableSnapshotError) {
        try change(operation)
        seen[operation, default: 0] += 1
      } catch {
        failure = error
        seen[error.name, default: 0] += 1
      }
      if let failure {
        model = modelBefore
        try #require(snapshot == before, "\(operation): \(failure)")
      }
      let first = number(0...itemMax)
      let lookups = number(0...1) == 0 ? first..<first + 2 : 0..<0
      try #require(model.differences(snapshot, lookups: lookups) == [], "\(operation) of \(before)")
    }
    try #require(model.differences(snapshot, lookups: 0..<itemMax + 2) == [])
    try #require(kept.1.differences(kept.0, lookups: 0..<itemMax + 2) == [])
  }

  mutating func shuffle() {
    model.sections.shuffle(using: &random)
    for section in model.sections.indices { model.sections[section].items.shuffle(using: &random) }
    snapshot = DiffableSnapshot(sections: model.sections.map { ($0.id, $0.items) })
    (model.marks, model.sectionMarks) = ([:], [])
  }

  /// Changes both, and throws the error that both throw.
  private mutating func change(_ operation: String) throws(DiffableSnapshotError) {
    let (items, ids, isAfter) = (items(), sections(), number(0...1) == 0)
    let (known, other) = (item(), number(0...9) == 0 ? itemMax + 1 : item())
    let (section, otherSection, isDirect) = (number(0...9), number(0...9), number(0...1) == 0)
    var (a, b): (DiffableSnapshotError?, DiffableSnapshotError?)
    func both(
      _ real: (inout DiffableSnapshot<Int, Int>) -> Void,
      _ naive: (inout ModelSnapshot) throws(DiffableSnapshotError) -> Void
    ) {
      do throws(DiffableSnapshotError) { try naive(&model) } catch { b = error }
      // What is valid need not be attempted.
      if b == nil, isDirect { return real(&snapshot) }
      do throws(DiffableSnapshotError) { try snapshot.attempt(real) } catch { a = error }
    }
    switch operation {
    case "append":
      let target = number(0...1) == 0 ? nil : section
      both(
        { $0.appendItems(items, toSection: target) },
        { m throws(DiffableSnapshotError) in try m.append(items, target) })
    case "insert":
      both(
        {
          if isAfter {
            $0.insertItems(items, afterItem: other)
          } else {
            $0.insertItems(items, beforeItem: other)
          }
        }, { m throws(DiffableSnapshotError) in try m.insert(items, by: other, isAfter: isAfter) })
    case "move":
      both(
        {
          if isAfter {
            $0.moveItem(known, afterItem: other)
          } else {
            $0.moveItem(known, beforeItem: other)
          }
        }, { m throws(DiffableSnapshotError) in try m.move(known, by: other, isAfter: isAfter) })
    case "delete": both({ $0.deleteItems(items) }, { $0.delete(items) })
    case "delete all":
      if number(0...3) == 0 { both({ $0.deleteAllItems() }, { $0.deleteAll() }) }
    case "replace":
      both(
        { $0.replaceItems(in: section, with: items) },
        { m throws(DiffableSnapshotError) in try m.replace(section, items) })
    case "remove where":
      both({ $0.removeItems { $0 % 3 == 0 } }, { $0.delete($0.items.filter { $0 % 3 == 0 }) })
    case "reload":
      let items = number(0...1) == 0 ? [known] : items
      both(
        { $0.reloadItems(items) },
        { m throws(DiffableSnapshotError) in try m.mark(items, isReload: true) })
    case "reconfigure":
      let items = number(0...1) == 0 ? [known] : items
      both(
        { $0.reconfigureItems(items) },
        { m throws(DiffableSnapshotError) in try m.mark(items, isReload: false) })
    case "append sections":
      both(
        { $0.appendSections(ids) },
        { m throws(DiffableSnapshotError) in try m.appendSections(ids) })
    case "insert sections":
      both(
        {
          if isAfter {
            $0.insertSections(ids, afterSection: section)
          } else {
            $0.insertSections(ids, beforeSection: section)
          }
        }, { m throws(DiffableSnapshotError) in try m.insertSections(ids, by: section, isAfter: isAfter) })
    case "move section":
      both(
        {
          if isAfter {
            $0.moveSection(section, afterSection: otherSection)
          } else {
            $0.moveSection(section, beforeSection: otherSection)
          }
        },
        { m throws(DiffableSnapshotError) in try m.moveSection(section, by: otherSection, isAfter: isAfter) })
    case "delete sections": both({ $0.deleteSections(ids) }, { $0.deleteSections(ids) })
    default: both({ $0.reloadSections(ids) }, { $0.reloadSections(ids) })
    }
    #expect(a == b, "\(operation)")
    if let a { throw a }
  }
}

extension DiffableSnapshotError {
  /// The case without its associated values.
  var name: String {
    switch self {
    case .noSections: "noSections"
    case .unknownSection: "unknownSection"
    case .unknownItem: "unknownItem"
    case .duplicateSection: "duplicateSection"
    case .duplicateItem: "duplicateItem"
    case .identifiersCollide: "identifiersCollide"
    case .changesDoNotFit: "changesDoNotFit"
    }
  }
}
