// What following a list compares, and that this is the same as comparing with the list that was printed last.

import ArgumentParser
import Foundation
import LogreplayPoints
import Strata
import StrataDocuments
import StrataSimulation
import StrataTables
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite struct FollowWorkTests {
  private static let caseCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 500

  private static func replay(_ folder: SampleFolder, _ words: [String]) throws -> ListReplay {
    let opened = try OpenedStore.open(folder.store)
    let times = TimeText(now: 0, zone: .utc)
    let query = try ListQuery(ListOptions.parse(["--table", "t"] + words), in: opened, times: times)
    return try ListReplay(opened, query, from: 0)
  }

  private static func state(_ replay: ListReplay, at sequence: UInt64) throws -> ListState {
    let point = try PointRange(["0..\(sequence)"], times: TimeText(now: 0, zone: .utc)).to
    return try replay.state(at: PointResolver(store: replay.opened).resolve(#require(point)))
  }

  private static func json(_ diff: ListComparison, _ replay: ListReplay) throws -> String {
    try DiffAppliedTests.text { try DiffJSON(diff: diff, fields: replay.query.fields).write(to: &$0) }
  }

  @Test func `each append is compared with the one before it, however long the list has been the same`()
    async throws
  {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for number in 0..<300 {
      try await store.append([NewEvent("$put", in: StreamName(category: "t", id: "\(number)"), ["n": 0])])
    }
    try await store.append([NewEvent("$put", in: "t/last", ["n": -1])])
    try await store.close()
    let replay = try Self.replay(folder, ["--where", "n == -1"])
    let state = try Self.state(replay, at: 2)
    var last = state.version
    var found: [ListComparison] = []
    try replay.runByAppend(through: 301) { set in
      var compared = 0
      Table.forEachChange(from: last.table, to: replay.version(of: set).table) { _ in compared += 1 }
      #expect(compared == 1, "at \(set.sequence)")
      let diff = try replay.comparison(from: state, after: &last, to: set, withRevisions: true)
      if let diff { found.append(diff) }
    }
    // What is printed begins where the last list was printed.
    #expect(found.map(\.old.sequence) == [2] && found.map(\.new.sequence) == [301])
  }

  @Test func `what is followed is what the lists say that were printed, at random`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (cases, unchanged) = (0, 0)
    while cases < Self.caseCount {
      let folder = try SampleFolder()
      let store = try await folder.open()
      try await DiffAppliedTests.fill(store, &random)
      let head = store.head.sequence
      try await store.close()
      let words = DiffAppliedTests.lists.randomElement(using: &random)!
      let (followed, looked) = (try Self.replay(folder, words), try Self.replay(folder, words))
      let begin = UInt64.random(in: 0...5, using: &random)
      var (state, printed) = (try Self.state(followed, at: begin), try Self.state(looked, at: begin))
      var last = state.version
      try followed.runByAppend(through: head) { set in
        cases += 1
        let diff = try followed.comparison(from: state, after: &last, to: set, withRevisions: true)
        let now = try Self.state(looked, at: set.sequence)
        let whole = ListComparison(from: printed, to: now)
        let isSame =
          whole.batch.isEmpty && RevisionChange.changes(from: printed.version, to: now.version).isEmpty
        #expect((diff == nil) == isSame, "at \(set.sequence) of \(words)")
        guard let diff else { return unchanged += 1 }
        #expect(try Self.json(diff, followed) == Self.json(whole, looked), "at \(set.sequence) of \(words)")
        (state, printed) = (diff.new, now)
      }
    }
    #expect(unchanged > 0, "every append changed its list")
  }
}
