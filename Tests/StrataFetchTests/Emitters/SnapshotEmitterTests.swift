// The emitters over the changes between two snapshots, which have the fewest moves possible.

internal import StrataViews
@testable internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct SnapshotEmitterTests {
  @Test
  func `R40 What two snapshots give is shown by every emitter`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var classes = ListPairClasses()
    for _ in 0..<EmitterTests.runCount {
      let pair = ListPair(&random)
      var new = pair.newSnapshot
      let old = Dictionary(
        uniqueKeysWithValues: pair.old.sections.flatMap { $0.cells.map { ($0.id, $0.version) } })
      let versions = Dictionary(uniqueKeysWithValues: pair.old.sections.map { ($0.id, $0.version) })
      for section in pair.new.sections {
        if let version = versions[section.id], version != section.version { new.reloadSections([section.id]) }
        for cell in section.cells {
          guard let version = old[cell.id], version != cell.version else { continue }
          if Bool.random(using: &random) {
            new.reloadItems([cell.id])
          } else {
            new.reconfigureItems([cell.id])
          }
        }
      }
      let changes = ListChanges(from: pair.oldSnapshot, to: new)
      classes.add(changes)
      try EmitterChecks(old: pair.old, new: pair.new, changes: changes).checkAll()
    }
    print(classes)
    // The sections of snapshots are never updated, only reloaded.
    #expect(classes.missing.filter { $0 != "section updated" } == [])
  }
}
