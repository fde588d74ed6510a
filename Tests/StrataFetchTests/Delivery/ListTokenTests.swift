// Resuming a list from a token.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct ListTokenTests {
  private static let storeID = StoreID(low: 7, high: 9)

  /// A store with a fixed id and clock, so that equal appends have the same chain.
  private func store(_ files: any FileSystem = MemoryFileSystem()) throws -> EventStore {
    var options = StoreOptions()
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    options.segmentSizeTarget = 1
    return try EventStore.open(files, path: "/store", .readWrite, options: options, storeID: Self.storeID)
  }

  private func first(
    _ list: ChoreList, _ policy: UpdatePolicy = .latest, since token: ListToken?
  ) async throws -> ChoreUpdate {
    var updates = list.updates(policy, since: token).makeAsyncIterator()
    return try #require(try await updates.next())
  }

  private func error(_ list: ChoreList, since token: ListToken) async -> ListError? {
    do throws(ListError) {
      var updates = list.updates(since: token).makeAsyncIterator()
      _ = try await updates.next()
      return nil
    } catch {
      return error
    }
  }

  @Test
  func `R54 An iteration that is resumed begins with the difference since its token`() async throws {
    let home = try await Household("abcd")
    let token = try #require(try await home.list.performFetch().token)
    try await home.chores.delete(0)
    try await home.chores.put(Chore(id: 9, title: "i"))
    // Another controller, as after a restart of the program.
    let again = FetchController(Household.all, from: home.chores)
    var updates = again.updates(since: token).makeAsyncIterator()
    let update = try #require(try await updates.next())
    #expect(update.reason == .resumed && update.before?.sequence == 4)
    #expect(update.changes.deletions.map(\.id) == [0] && update.changes.insertions.map(\.id) == [9])
    #expect(update.changes == (try await again.changes(from: .sequence(4), to: .head)))
    try await home.chores.delete(9)
    let next = try #require(try await updates.next())
    #expect(next.reason == .changed && next.before?.sequence == update.sequence)
    // Nothing was appended since.
    let none = try await first(again, since: next.after.token)
    #expect(none.reason == .resumed && none.changes.isEmpty && none.before != nil)
    // Before the first event, and with another request.
    let beginning = try #require(try await again.snapshot(at: .beginning).token)
    let cut = FetchController(Household.open.limited(to: 1), from: home.chores)
    #expect(try await first(cut, since: beginning).changes.insertions.map(\.id) == [2])
  }

  @Test(arguments: [false, true])
  func `R54 Where something was erased after a token, the whole list is delivered`(
    hasManySegments: Bool
  ) async throws {
    let home = try await Household("abcd", store: hasManySegments ? try store() : nil)
    let token = try #require(try await home.list.performFetch().token)
    try await home.store.erase(Erasure(streams: ["task/1"], because: "asked to"))
    for id in 8...9 { try await home.chores.put(Chore(id: id, title: "i")) }
    for policy in [UpdatePolicy.latest, .everyCommit] {
      let update = try await first(FetchController(Household.all, from: home.chores), policy, since: token)
      #expect(update.reason == .restarted && update.before == nil)
      #expect(update.after.itemIdentifiers.contains(0) && !update.after.itemIdentifiers.contains(1))
    }
    // A token from after the erasure goes on from there.
    let newest = try #require(try await home.list.performFetch().token)
    try await home.chores.delete(9)
    let update = try await first(home.list, since: newest)
    #expect(update.reason == .resumed && update.changes.deletions.map(\.id) == [9])
  }

  @Test
  func `R54 Every append after a token is an update of its own where that is wanted`() async throws {
    let home = try await Household("abcdef")
    let token = try #require(try await home.list.snapshot(at: .sequence(2)).token)
    var updates = home.list.updates(.everyCommit, since: token).makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(first.reason == .resumed && first.changes.isEmpty && first.sequence == 2)
    for sequence in UInt64(3)...6 {
      let update = try #require(try await updates.next())
      #expect(update.sequence == sequence && update.before?.sequence == sequence - 1)
      #expect(update.changes.insertions.map(\.id) == [Int(sequence) - 1])
    }
  }

  @Test
  func `R71 A token is a text and a coded value, and no other text is one`() async throws {
    let home = try await Household()
    let token = try #require(try await home.list.performFetch().token)
    #expect(token.store == home.store.id && token.sequence == 3 && token.position == home.store.head)
    #expect(ListToken(token.description) == token)
    #expect(token.description == "\(home.store.id)/\(home.store.head)")
    let data = try JSONEncoder().encode([token])
    #expect(try JSONDecoder().decode([ListToken].self, from: data) == [token])
    let text = token.description
    for wrong in [
      "", "/", "3@0", text + "0", String(text.dropLast()), text.uppercased() + "x", " " + text, text + "/",
      text.replacing("-", with: ""), text.replacing("@", with: "#"),
    ] {
      #expect(ListToken(wrong) == nil, "\(wrong)")
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([ListToken].self, from: JSONEncoder().encode([wrong]))
      }
    }
  }

  @Test
  func `R71 A token of another store or of another history is refused, and says so`() async throws {
    let home = try await Household("abcde", store: store())
    let token = try #require(try await home.list.performFetch().token)
    let other = try await Household("abcde")
    guard case .otherStore(home.store.id, expected: other.store.id) = await error(other.list, since: token)
    else { return #expect(Bool(false), "a token of another store was accepted") }
    // The same store, after its last two appends were lost and others were written.
    let diverged = try await Household("abcxy", store: store())
    guard case .store(.diverged(sequence: 5)) = await error(diverged.list, since: token)
    else { return #expect(Bool(false), "a token of another history was accepted") }
    let early = try #require(try await home.list.snapshot(at: .sequence(3)).token)
    #expect(try await first(diverged.list, since: early).reason == .resumed)
    for error in [await error(other.list, since: token), await error(diverged.list, since: token)] {
      #expect(error.map { "\($0)" }?.contains("; ") == true)
    }
  }

  @Test
  func `R71 A token of a range that was trimmed is expired, and never a part of an answer`() async throws {
    let disk = SimulatedDisk()
    let home = try await Household("abcdef", store: store(disk))
    var tokens: [ListToken] = []
    for sequence in UInt64(0)...6 {
      tokens.append(try #require(try await home.list.snapshot(at: .sequence(sequence)).token))
    }
    try await home.store.close()
    // The first three segments are removed, as by a trim.
    let layout = StoreLayout(root: "/store")
    for first in [1, 2, 3] as [SegmentName] { disk.delete(layout.segment(first)) }
    var head = try #require(try HeadFile.read(disk, path: layout.head))
    head.logBegin = 4
    let file = try disk.open(layout.head, .readWrite)
    for offset in HeadSlot.offsets {
      try head.encoded().withUnsafeBytes { try file.write($0, at: Int64(offset)) }
    }
    file.close()
    let trimmed = try await Household("", store: store(disk))
    for token in tokens {
      if token.sequence < 3 {
        guard case .tokenExpired(oldestAvailable: 3) = await error(trimmed.list, since: token) else {
          return #expect(Bool(false), "\(token) was accepted")
        }
      } else {
        #expect(try await first(trimmed.list, since: token).reason == .resumed)
      }
    }
  }

  @Test
  func `R74 A token past the end, whose tail was torn, begins anew with the whole list`() async throws {
    let whole = try await Household("abcde", store: store())
    let token = try #require(try await whole.list.performFetch().token)
    let torn = try await Household("abc", store: store())
    for policy in [UpdatePolicy.latest, .everyCommit] {
      let update = try await first(torn.list, policy, since: token)
      #expect(update.reason == .restarted && update.before == nil && update.changes.isEmpty)
      #expect(update.after.numberOfItems == 3)
    }
    // A reader that has not read that far yet is not mistaken for a torn tail.
    let files = MemoryFileSystem()
    let writer = try await Household("ab", store: store(files))
    let seen = try EventStore.open(files, path: "/store", .readOnly, options: StoreOptions())
    let list = FetchController(Household.all, from: seen.collection("task", of: Chore.self))
    try await list.performFetch()
    try await writer.chores.put(Chore(id: 5, title: "e"))
    let newest = try #require(try await writer.list.performFetch().token)
    #expect(try await first(list, since: newest).reason == .resumed)
    try await seen.close()
    try await writer.store.close()
  }
}
