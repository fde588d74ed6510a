// Searching for words that occur anywhere, ignoring case and marks, whatever is typed.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct SearchTests {
  private let base = ListRequest(Ticket.self).sorted(by: \.id)

  private func ids(_ text: String) async throws -> [String] {
    let board = Board()
    try await board.put(
      Ticket(id: "1", title: "Øster Farimagsgade", note: "Straße in KÖLN", tags: ["Ünïcode", "x"]),
      Ticket(id: "2", title: "oster", tags: ["Łódź"]), Ticket(id: "3", title: "日本語の検索"),
      Ticket(id: "1-364285768", title: "Οδός"), Ticket(id: "e", title: "e\u{301}te\u{301}"))
    let typed = try await board.show(base.searched(for: text, in: \.id, \.title, \.note, \.tags))
      .itemIdentifiers
    let fields = ["title", "note", "tags"].map { FieldPath(names: [$0]) }
    let untyped = ListRequest(DocumentRow.self).sorted(byField: try FieldPath("$id"))
      .searched(for: text, inFields: try FieldPath("$id"), fields[0], fields[1], fields[2])
    let list = FetchController(untyped, from: board.store.documents("ticket"))
    #expect(try await list.performFetch().itemIdentifiers == typed, "\(text)")
    return typed
  }

  @Test
  func `R23 Every word has to occur somewhere, in any part, without case and marks on letters`() async throws
  {
    #expect(try await ids("oster") == ["1", "2"])
    #expect(try await ids("ÖSTER") == ["1", "2"])
    #expect(try await ids("  köln\tøster ") == ["1"])
    #expect(try await ids("koln lodz") == [])
    #expect(try await ids("lodz") == ["2"])
    #expect(try await ids("STRASSE") == ["1"])
    #expect(try await ids("unicode") == ["1"])
    #expect(try await ids("gade") == ["1"])
    #expect(try await ids("本語") == ["3"])
    #expect(try await ids("364285") == ["1-364285768"])
    #expect(try await ids("ΟΔΟΣ") == ["1-364285768"])
    #expect(try await ids("été") == ["e"])
    #expect(try await ids("ete") == ["e"])
    #expect(try await ids("absent") == [])
  }

  @Test
  func `R23 A search without words is no search, and searches of the same words are equal requests`() {
    for text in ["", " ", "\n\t\u{A0}", "\u{301}"] {
      #expect(base.searched(for: text, in: \.title) == base)
      #expect(base.searched(for: text, inFields: FieldPath(names: ["title"])) == base)
    }
    let search = base.searched(for: "Café au lait", in: \.title, \.note)
    #expect(search == base.searched(for: " lait  AU cafe au ", in: \.title, \.note))
    #expect(search.hashValue == base.searched(for: "lait au cafe", in: \.title, \.note).hashValue)
    #expect(search != base.searched(for: "cafe au", in: \.title, \.note))
    #expect(search != base.searched(for: "Café au lait", in: \.title))
    #expect(search != base.searched(for: "Café au lait", inFields: FieldPath(names: ["title"])))
  }

  @Test
  func `R23 A hostile text costs no more than a long one, and rows may hold anything`() async throws {
    let board = Board()
    try await board.put("1", document: ["id": "1", "title": .string(String(repeating: "a", count: 100_000))])
    try await board.put("2", document: ["id": "2", "title": .array([1, "b", ["c"], .null])])
    try await board.put("3", document: ["id": "3", "title": ["a": "a"]])
    let base = ListRequest(DocumentRow.self)
    func ids(_ text: String) async throws -> [String] {
      let request = base.searched(for: text, inFields: FieldPath(names: ["title"]))
      return try await FetchController(request, from: board.store.documents("ticket")).performFetch()
        .itemIdentifiers
    }
    #expect(try await ids(String(repeating: "a", count: 1_000_000)) == ["1"])
    #expect(try await ids(String(repeating: "b ", count: 1_000_000)) == ["2"])
    #expect(try await ids(String(repeating: "\u{301}", count: 1_000_000)) == ["1", "2", "3"])
    #expect(try await ids(String(repeating: "ﷺ", count: 100_000)) == [])
    #expect(try await ids("c") == [])
    #expect(try await ids("1") == [])
    let query = try #require(SearchQuery((0..<1_000).map { "w\($0)" }.joined(separator: " ")))
    #expect(query.words.count == SearchQuery.wordCountMax)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let scalars = (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
        Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &random))
      }
      var text = String()
      text.unicodeScalars.append(contentsOf: scalars)
      guard let query = SearchQuery(text) else { continue }
      let isFound = query.matches { body in
        var text = text
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
      }
      #expect(isFound, "a text has its own words in it: \(scalars)")
    }
  }

  @Test
  func `R23 Letters are folded as Unicode decomposes them, composed and decomposed alike`() {
    for value in UInt32(0)...0xFFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let lower = String(scalar).lowercased()
      let parts = Array(lower.decomposedStringWithCanonicalMapping.unicodeScalars)
      let marks = parts.filter { (0x300...0x36F).contains($0.value) }
      guard marks.count > 0, parts.count == marks.count + 1, parts[0].properties.isAlphabetic else {
        continue
      }
      let folded = SearchFolding.folded(lower)
      #expect(folded == SearchFolding.folded(String(parts[0])), "\(lower)")
      #expect(folded == SearchFolding.folded(lower.decomposedStringWithCanonicalMapping), "\(lower)")
      #expect(
        folded == SearchFolding.folded(lower.uppercased()) || lower.uppercased().unicodeScalars.count > 1)
    }
    let alike = [
      ["ωδη", "ᾠδή", "ᾨΔΉ", "ω\u{314}\u{345}δη\u{301}"], ["strasse", "STRAẞE", "Straße", "ſtraſſe"],
      ["οδος", "ΟΔΌΣ", "οδόσ"], ["fin", "ﬁn", "FÍN"], ["k", "\u{212A}"], ["i", "İ", "ı", "I"],
    ]
    for texts in alike { #expect(Set(texts.map { SearchFolding.folded($0) }).count == 1, "\(texts)") }
    // Of the letters without marks, those of A to Z alone have another form; the bytes around them do not.
    #expect(SearchFolding.folded("@AZ[`az{") == Array("@az[`az{".utf8))
  }
}
