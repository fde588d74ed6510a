// What a historian does next, by what is known: without a file, a log or a fold.

@testable internal import StrataPast
@testable internal import StrataTables
internal import Testing

@Suite struct HistoryJobTests {
  private static let base = MergePlan(baseAt: 2)

  private static func next(
    _ folded: HistorySituation.Folded?, _ change: (inout HistorySituation) -> Void = { _ in }
  ) -> HistoryJob? {
    var situation = HistorySituation(folded: folded)
    change(&situation)
    return situation.next
  }

  @Test func `a merge that was begun comes first, then the front, then another merge, then events`() {
    var situation = HistorySituation(
      isMerging: true, front: (first: 2, isBase: false), plan: MergePlan(baseAt: 5),
      folded: .init(isDue: true, isWhole: true, isAtEnd: true), hasEvents: true, writesRest: true,
      mayLackKeys: true)
    #expect(situation.next == .resumeMerging)
    situation.isMerging = false
    #expect(situation.next == .beginMerging(Self.base))
    situation.front = (first: 2, isBase: true)
    #expect(situation.next == .leaveOut(before: 2))
    situation.front = nil
    #expect(situation.next == .beginMerging(MergePlan(baseAt: 5)))
    situation.plan = nil
    #expect(situation.next == .write)
    situation.folded = nil
    #expect(situation.next == .beginFold)
    situation.hasEvents = false
    #expect(situation.next == .addKeys)
    situation.mayLackKeys = false
    #expect(situation.next == nil)
  }

  @Test func `a run is written once it is due, and the last events only where they are asked for`() {
    #expect(Self.next(.init()) == .fold)
    #expect(Self.next(.init(isWhole: true)) == .fold)
    #expect(Self.next(.init(isDue: true, isWhole: true)) == .write)
    #expect(Self.next(.init(isWhole: true, isAtEnd: true)) == nil)
    #expect(Self.next(.init(isWhole: true, isAtEnd: true)) { $0.writesRest = true } == .write)
    // Nothing is written inside of an append.
    #expect(Self.next(.init(isAtEnd: true)) { $0.writesRest = true } == nil)
  }

  @Test func `keys of a list are added where there is nothing to fold and nothing to write`() {
    #expect(Self.next(.init()) { $0.mayLackKeys = true } == .fold)
    #expect(Self.next(.init(isWhole: true, isAtEnd: true)) { $0.mayLackKeys = true } == .addKeys)
    #expect(Self.next(nil) { ($0.mayLackKeys, $0.hasEvents) = (true, true) } == .beginFold)
    #expect(Self.next(nil) == nil)
  }
}
