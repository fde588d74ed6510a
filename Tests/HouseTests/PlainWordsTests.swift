// The words that a stranger would stumble over, and that the text does without.

import Foundation
import Testing

@Suite struct PlainWordsTests {
  /// A word, and what is written instead.
  private static let avoided: [(word: String, instead: String)] = [
    ("whoever", "the caller, the reader, the writer"), ("whomever", "the caller, the reader, the writer"),
    ("anew", "again, from the start"), ("is told", "is notified, receives"),
    ("are told", "are notified, receive"),
    ("hears", "receives"), ("so many", "that many"), ("comes to", "reaches, results in"), ("stands", "is"),
    ("stands in", "is in"), ("behind", "after, past; behind is for what lags"),
  ]

  /// What `behind` is right after.
  private static let lagging = [
    "lag", "lags", "lagging", "lagged", "leave", "leaves", "left", "fall", "falls", "is", "was",
  ]

  /// The words of a text outside backticks, in lower case.
  private static func words(_ text: Substring) -> [String] {
    let outside = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined(separator: " ` ")
    return outside.lowercased().split { !$0.isLetter && $0 != "`" && $0 != "’" && $0 != "'" }.map(String.init)
  }

  /// The lines of a file that a reader reads: comments of code, and all of a page.
  private static func lines(_ path: String) throws -> [(number: Int, text: Substring)] {
    let lines = try Repository.text(path).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().compactMap { number, line in
      if path.hasSuffix(".md") { return (number + 1, line) }
      guard let comment = line.firstRange(of: "//") else { return nil }
      return (number + 1, line[comment.lowerBound...])
    }
  }

  private static func found(_ words: [String]) -> [(word: String, instead: String)] {
    avoided.filter { avoided in
      let sought = avoided.word.split(separator: " ").map(String.init)
      guard words.count >= sought.count else { return false }
      return (0...words.count - sought.count).contains { place in
        guard Array(words[place..<place + sought.count]) == sought else { return false }
        return avoided.word != "behind" || place == 0 || !lagging.contains(words[place - 1])
      }
    }
  }

  @Test func `words that trip a reader are found, and others are not`() {
    #expect(Self.found(Self.words("The cursor stands behind a block")).map(\.word) == ["stands", "behind"])
    #expect(Self.found(Self.words("HEAD may lag behind it; see `behind`")).isEmpty)
    #expect(Self.found(Self.words("is toldstoy")).isEmpty)
  }

  @Test func `comments and pages are in plain words`() throws {
    let pages = Repository.files("Sources", endingIn: ".md") + ["README.md", "FORMAT.md"]
    let code = Repository.swiftFiles("Sources") + Repository.swiftFiles("Tools")
    #expect(pages.count > 10 && code.count > 100)
    for path in pages + code {
      // Names of tests are cited as they are.
      if path.hasSuffix("Faults.md") || path.hasSuffix("Rules.md") { continue }
      for line in try Self.lines(path) {
        for (word, instead) in Self.found(Self.words(line.text)) {
          Issue.record("\(path):\(line.number) says “\(word)”; write: \(instead)")
        }
      }
    }
  }
}
