// Files whose checksums are right and whose numbers are at the ends of their ranges trap nothing that reads them.

import Foundation
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// Where the numbers are.
enum ExtremePlace: String, CaseIterable, Codable, Sendable {
  case head, segmentHeaders, blockHeaders, payloads, indexes, chained, indexValues, sequences, erasures
}

@Suite struct ExtremeNumberTests {
  /// Visits every store of a place, and notes which one it is at in a file, for whoever finds that it ended there.
  static func visitAll(_ place: ExtremePlace, noting path: String) throws -> Int {
    let base = try NumberedStore()
    var whole = StoreTour(base.files)
    whole.read(withWriter: false)
    try #require(whole.answers > 40 && whole.answers > 10 * whole.refusals, "the whole store answers")
    let note = try #require(FileHandle(forWritingAtPath: path))
    var count = 0
    try ExtremeStores.forEach(place, base) { name, files in
      try note.truncate(atOffset: 0)
      try note.write(contentsOf: Data(name.utf8))
      var tour = StoreTour(files)
      tour.read(withWriter: false)
      if place == .head { tour.read(withWriter: true) }
      tour.write()
      if place == .head || place == .segmentHeaders { tour.takeBackup(of: base.files) }
      try #require(tour.answers + tour.refusals > 5)
      count += 1
    }
    return count
  }

  // In a process of its own, because a trap would take the other tests with it.
  @Test(arguments: ExtremePlace.allCases)
  func `fault 40: numbers at the ends of their ranges under right checksums get an answer or an error`(
    place: ExtremePlace
  ) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("extreme-\(UUID().uuidString)")
      .path
    try #require(FileManager.default.createFile(atPath: path, contents: nil))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let result = await #expect(processExitsWith: .success) {
      [place = place as ExtremePlace, path = path as String] in
      try #require(try ExtremeNumberTests.visitAll(place, noting: path) > 10)
    }
    if result == nil {
      let last = FileManager.default.contents(atPath: path) ?? Data()
      Issue.record("it ended with \(String(decoding: last, as: UTF8.self))")
    }
  }

  @Test func `a stream with the highest revision takes no more events, and the store stays whole`() throws {
    let base = try NumberedStore()
    var count = 0
    try ExtremeStores.forEach(.chained, base) { name, files in
      guard name.hasPrefix("event's revision"), name.contains(": \(UInt64.max),") else { return }
      count += 1
      let disk = NumberedStore.disk(files)
      let store = try EventStore.open(
        disk, path: NumberedStore.root, .readWrite, options: NumberedStore.options)
      let full = try #require(try store.appendBlocking(holding: store.head.sequence)?.events.first)
      #expect(full.revision == .max)
      do throws(StoreError) {
        try store.appendBlocking([NewEvent("$put", in: full.stream, ["n": 2])])
        Issue.record("an event without a revision was appended")
      } catch {
        guard case .invalid(let what, _) = error else { throw error }
        #expect(what.contains(full.stream.text))
      }
      let other = try store.appendBlocking([NewEvent("$put", in: "incident/new", ["n": 2])])
      #expect(other.sequences.lowerBound == full.sequence + 1)
      try store.closeBlocking()
      #expect(try disk.findings(inStore: NumberedStore.root) == [])
    }
    #expect(count == 1)
  }
}
