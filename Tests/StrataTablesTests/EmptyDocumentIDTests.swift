// Documents with an empty id: the streams `doc` and `doc/` are one row, wherever it is read.

import StrataDocuments
import StrataEvents
import StrataLog
@testable internal import StrataPast
import StrataTables
import StrataSimulation
import Testing

@Suite struct EmptyDocumentIDTests {
  private static func put(_ text: String, in stream: StreamName) -> NewEvent {
    NewEvent("$put", in: stream, ["text": .string(text)])
  }

  @Test func `a document in a stream without a slash is read at any point, and so are its versions`()
    async throws
  {
    let store = EventStore.inMemory()
    let documents = store.documents("doc")
    try await store.append([Self.put("a", in: "doc")])
    try await store.append([Self.put("b", in: "doc")])
    try await store.append([NewEvent("$delete", in: "doc", .null)])
    #expect(try await documents["", at: .beginning] == nil)
    #expect(try await documents["", at: .sequence(1)]?.fields["text"] == "a")
    #expect(try await documents["", at: .sequence(2)]?.fields["text"] == "b")
    #expect(try await documents["", at: .sequence(3)] == nil)
    let versions = try await documents.history(of: "")
    #expect(versions.map(\.sequence) == [1, 2, 3])
    #expect(versions.map { $0.item?.fields["text"] } == ["a", "b", nil])
  }

  @Test func `events of both streams of an empty id change one row, in the order of the log`() async throws {
    let store = EventStore.inMemory()
    let documents = store.documents("doc")
    try await store.append([Self.put("a", in: "doc"), Self.put("x", in: "doc/1")])
    try await store.append([NewEvent("$merge", in: "doc/", ["more": true])])
    try await store.append([Self.put("b", in: "doc")])
    #expect(try await documents[""]?.fields == ["text": "b"])
    #expect(try await documents["", at: .sequence(3)]?.fields == ["text": "a", "more": true])
    #expect(try await documents["1", at: .sequence(3)]?.fields == ["text": "x"])
    #expect(try await documents.history(of: "").map(\.sequence) == [1, 3, 4])
    #expect(try await documents.history(of: "1").map(\.sequence) == [2])
  }

  @Test(arguments: UInt64(0)..<100)
  func `a row with an empty id is at every point what the state there has`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var options = StoreOptions()
    options.segmentSizeTarget = [1, 2_000, 1 << 20].randomElement(using: &random)!
    options.blockSizeTarget = [1, 300].randomElement(using: &random)!
    options.sealsInBackground = false
    let store = EventStore.inMemory(options: options)
    for number in 0..<12 {
      let stream: StreamName = ["doc", "doc/", "doc/1", "doc//"].randomElement(using: &random)!
      let event =
        switch Int.random(in: 0..<4, using: &random) {
        case 0: NewEvent("$delete", in: stream, .null)
        case 1: NewEvent("$merge", in: stream, ["n": .int(Int64(number))])
        default: Self.put("\(number)", in: stream)
        }
      try await store.append([event])
    }
    let documents = store.documents("doc")
    var changes: [UInt64] = []
    var before: DocumentRow?
    for sequence in 0...store.head.sequence {
      let row = try await documents["", at: .sequence(sequence)]
      #expect(row == (try await documents.all(at: .sequence(sequence)).first { $0.id == "" }), "\(sequence)")
      if row != before { changes.append(sequence) }
      before = row
    }
    #expect(try await documents.history(of: "").map(\.sequence) == changes)
  }
}
