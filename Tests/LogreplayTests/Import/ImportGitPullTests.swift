// Laws of importing a history again after a pull that merged what was imported.

import Foundation
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportGitPullTests {
  /// A and B, which are imported, then M whose first parent is C, a child of A, and whose second one is B; then N.
  private static func pulled(_ folder: ImportFolder) throws -> (sample: ImportGitSample, hashes: [String]) {
    let sample = try ImportGitSample(folder)
    let a = sample.commit("A", [.file([0x61], "a")], at: 1_700_000_000)
    let b = sample.commit("B", [.file([0x62], "b"), .delete([0x61])], at: 1_700_000_010)
    let c = sample.commit("C", [.file([0x63], "c")], at: 1_700_000_005, from: a, isSide: true)
    // What the merge keeps of its first parent is what fast-import begins with.
    let m = sample.commit(
      "M", [.file([0x62], "b"), .file([0x64], "d")], at: 1_700_000_020, from: c, merging: b)
    sample.commit("N", [.file([0x65], "e")], at: 1_700_000_030, from: m)
    try sample.finish()
    return (sample, try sample.hashes())
  }

  @Test
  func `fault 113: after a pull, the merge is one append of what differs from the last imported commit`()
    async throws
  {
    let folder = try ImportFolder()
    let (sample, hashes) = try Self.pulled(folder)
    let (a, b, c, m, n) = (hashes[0], hashes[1], hashes[2], hashes[3], hashes[4])
    #expect(try await folder.run([sample.path, "--ref", b]).appended == 2)
    let report = try await folder.run([sample.path])
    #expect(report.read == 4 && report.known == 2 && report.appended == 2)
    #expect(report.git?.merge == ImportGitCounts.Merge(commit: m, comparedWith: b, others: 1))
    #expect(report.short.contains("\n\(m) is compared with \(b), the last commit that was imported"))
    #expect(report.short.hasSuffix("1 commit that came with it has no append"))
    #expect(report.json.contains(#""merge":{"commit":"\#(m)","comparedWith":"\#(b)","others":1}"#))
    let appends = try await folder.appends()
    #expect(appends.map(\.id) == [a, b, m, n])
    let merge = appends[2].events
    #expect(merge.map(\.stream.text) == ["commit/\(m)", "commit/\(c)", "file/a", "file/c", "file/d"])
    #expect(merge.map(\.type) == ["git.commit", "git.merged", "$put", "$put", "$put"])
    let document = try merge[0].document()
    #expect(document["comparedWith"] == .string(b) && document["otherCommits"] == 1)
    #expect(document["parents"] == .array([.string(c), .string(b)]))
    // Without a pull, nothing is said of one.
    #expect(try appends[1].events[0].document()["comparedWith"] == nil)
    let again = try await folder.run([sample.path])
    #expect(again.appended == 0 && again.read == 4 && again.git?.merge == nil)
  }

  @Test func `fault 113: the id of a commit that came with a merge names that merge`() async throws {
    let folder = try ImportFolder()
    let (sample, hashes) = try Self.pulled(folder)
    try await folder.run([sample.path, "--ref", hashes[1]])
    try await folder.run([sample.path])
    for id in [hashes[2], String(hashes[2].prefix(12))] {
      let run = try await LogreplayProcess.run("at", folder.store, "id:\(id)", "--table", "file")
      #expect(run.code == ExitStatus.notFound)
      #expect(
        run.errors.contains("the commit \(hashes[2]) is in the history, but has no append of its own"),
        "\(run)")
      #expect(run.errors.contains("give id:\(hashes[3])"), "\(run)")
    }
    // Of a commit that no merge was recorded for, what is said holds for all.
    let run = try await LogreplayProcess.run("at", folder.store, "id:0123456789", "--table", "file")
    #expect(
      run.code == ExitStatus.notFound && run.errors.contains("the commits along first parents"), "\(run)")
    // The others are told nothing of git.
    let text = try await LogreplayProcess.run("at", folder.store, "id:nothing", "--table", "file")
    #expect(text.code == ExitStatus.notFound && !text.errors.contains("first parents"), "\(text)")
  }

  @Test
  func `fault 113: a merge of what was imported into a first parent that was imported, too, is one append`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let a = sample.commit("A", [.file([0x61], "a")], at: 1_700_000_000)
    let b = sample.commit("B", [.file([0x62], "b")], at: 1_700_000_010)
    let m = sample.commit("M", [.file([0x62], "b")], at: 1_700_000_020, from: a, merging: b)
    sample.commit("N", [.file([0x63], "c")], at: 1_700_000_030, from: m)
    try sample.finish()
    let hashes = try sample.hashes()
    for ref in hashes.dropFirst() { try await folder.run([sample.path, "--ref", ref]) }
    let appends = try await folder.appends()
    #expect(appends.map(\.id) == hashes)
    #expect(appends[2].events.count == 1)
    #expect(appends[3].events.map(\.stream.text) == ["commit/\(hashes[3])", "file/c"])
  }

  @Test func `fault 113: more commits than are recorded one by one are counted`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let a = sample.commit("A", [], at: 1_700_000_000)
    let b = sample.commit("B", [], at: 1_700_000_001)
    var last = a
    for number in 0..<1100 {
      last = sample.commit("side \(number)", [], at: 1_700_000_002, from: last, isSide: true)
    }
    sample.commit("M", [.file([0x61], "a")], at: 1_700_000_003, from: last, merging: b)
    try sample.finish()
    try await folder.run([sample.path, "--ref", try sample.hashes()[1]])
    #expect(try await folder.run([sample.path]).git?.merge?.others == 1100)
    let merge = try await folder.appends()[2].events
    #expect(merge.count { $0.type == "git.merged" } == 1000 && merge.count == 1002)
    #expect(try merge[0].document()["otherCommits"] == 1100)
  }

  @Test func `a store that lacks a commit before its last one takes no more of the history`() async throws {
    let folder = try ImportFolder()
    let (sample, hashes) = try Self.pulled(folder)
    try await folder.run([sample.path, "--ref", hashes[1]])
    try await folder.run([sample.path])
    let appends = try await folder.appends()
    for missing in 0..<3 {
      let other = try ImportFolder()
      let store = try await EventStore.open(at: other.store)
      for (index, append) in appends.enumerated() where index != missing {
        let events = try append.events.map {
          NewEvent($0.type, in: $0.stream, try $0.document(), metadata: try $0.metadata())
        }
        try await store.append(events, id: append.id)
      }
      try await store.close()
      let failure = try await other.failure(of: [sample.path])
      #expect(failure.code == ExitStatus.corrupt && failure.what.contains("the store has"), "\(failure.what)")
      #expect(try await other.appends().count == 3)
    }
  }

  @Test(arguments: [0, 1, 2, 3])
  func `an import goes on where the record of a commit was erased, also that of the merge of a pull`(
    erased: Int
  ) async throws {
    let folder = try ImportFolder()
    let (sample, hashes) = try Self.pulled(folder)
    try await folder.run([sample.path, "--ref", hashes[1]])
    try await folder.run([sample.path])
    let line = [hashes[0], hashes[1], hashes[3], hashes[4]]
    let erase = try await LogreplayProcess.run(
      "erase", folder.store, "--stream", "commit/\(line[erased])", "--reason", "test", "--yes")
    #expect(erase.code == 0, "\(erase)")
    let next = try sample.oddCommit(after: line[3])
    #expect(try await folder.run([sample.path, "--ref", next]).appended == 1)
    #expect(try await folder.appends().compactMap(\.id).filter { $0.count == 40 } == line + [next])
  }

  // MARK: Any history

  /// The commits of a random graph by their parents, each with a higher number than these.
  private struct Graph {
    var parents: [[Int]] = []
    var ancestors: [Set<Int>] = []

    mutating func add(_ own: [Int]) {
      ancestors.append(own.reduce(into: [parents.count]) { $0.formUnion(ancestors[$1]) })
      parents.append(own)
    }

    /// Along first parents, oldest first.
    func chain(_ head: Int) -> [Int] {
      Array(sequence(first: head) { parents[$0].first }).reversed()
    }

    /// What an import appends to a store whose last commit is `last`; nil if it is refused.
    func appended(after last: Int?, to head: Int) -> [Int]? {
      guard let last else { return chain(head) }
      if ancestors[last].contains(head) { return [] }
      guard ancestors[head].contains(last) else { return nil }
      return chain(head).filter { $0 != last && ancestors[$0].contains(last) }
    }
  }

  private static let rounds = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 10

  @Test
  func
    `fault 113: after pulls of any history, each append's state is the tree of its commit, as git lists it`()
    async throws
  {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var merges = 0
    var round = 0
    // Few rounds may have hardly any merge.
    while round < Self.rounds || merges < Self.rounds / 4 {
      defer { round += 1 }
      let folder = try ImportFolder()
      let sample = try ImportGitSample(folder)
      var graph = Graph()
      for number in 0..<24 {
        var own: [Int] = []
        if number > 0 { own.append(Int.random(in: max(0, number - 5)..<number, using: &random)) }
        if number > 1, Int.random(in: 0..<5, using: &random) < 2 {
          let other = Int.random(in: max(0, number - 8)..<number, using: &random)
          if !own.contains(other) { own.append(other) }
        }
        graph.add(own)
        let changes = (0..<Int.random(in: 0...3, using: &random)).map { _ -> ImportGitSample.Change in
          let path = ImportGitSample.oddNames[Int.random(in: 0..<6, using: &random)]
          return Bool.random(using: &random) ? .delete(path) : .file(path, "\(number)")
        }
        sample.commit(
          "\(number)", changes, at: 1_700_000_000 + Int.random(in: 0..<1000, using: &random),
          from: own.first.map { $0 + 1 }, merging: own.dropFirst().first.map { $0 + 1 })
      }
      try sample.finish()
      let hashes = try sample.hashes()
      var expected: [Int] = []
      var head = Int.random(in: 0..<6, using: &random)
      while head < 24 {
        let place: Comment = "seed \(seed), round \(round), head \(head) after \(expected)"
        if let new = graph.appended(after: expected.last, to: head) {
          let report = try await folder.run([sample.path, "--ref", hashes[head]])
          #expect(report.appended == UInt64(new.count), place)
          if let first = new.first, let last = expected.last, graph.parents[first].first != last {
            #expect(
              report.git?.merge?.commit == hashes[first] && report.git?.merge?.comparedWith == hashes[last],
              place)
            merges += 1
          } else {
            #expect(report.git?.merge == nil, place)
          }
          expected += new
        } else {
          let failure = try await folder.failure(of: [sample.path, "--ref", hashes[head]])
          #expect(failure.code == ExitStatus.corrupt, place)
        }
        head += Int.random(in: -1...6, using: &random)
        head = max(0, head)
      }
      let appends = try await folder.appends()
      #expect(appends.map(\.id) == expected.map { hashes[$0] }, "seed \(seed), round \(round)")
      var state = ImportGitState()
      for append in appends {
        try state.apply(append)
        let listing = try sample.gitBytes(["ls-tree", "-r", "-z", "-l", append.id ?? ""])
        #expect(try state.listing() == listing, "seed \(seed), round \(round), \(append.id ?? "")")
      }
    }
  }
}
