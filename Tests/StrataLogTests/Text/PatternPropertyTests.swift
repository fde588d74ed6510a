// Random patterns against their definition, and against grep -E.

internal import Foundation
@testable internal import StrataBase
internal import StrataSimulation
internal import Testing

@Suite struct PatternPropertyTests {
  /// The number of pairs of a pattern and a text.
  static let pairCount = max(1_000, ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 2_000)
  private static let textCount = 40

  private func matches(_ pattern: Pattern, _ text: [Unicode.Scalar]) -> Bool {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text)
    return Array(String(scalars).utf8).withUnsafeBytes { pattern.matches($0) }
  }

  @Test func `a pattern matches what its definition says, whole and in part`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var matchCount = 0
    for _ in 0..<Self.pairCount / 4 {
      let model = PatternModel.random(&random, depth: 4, isCommon: false)
      let text = model.text(&random, isCommon: false)
      let (whole, part) = (try Pattern(text, isWhole: true), try Pattern(text, isWhole: false))
      for _ in 0..<4 {
        let subject = PatternModel.text(&random)
        #expect(matches(whole, subject) == model.matchesWhole(subject), "\(text) of all of \(subject)")
        #expect(matches(part, subject) == model.matchesPart(of: subject), "\(text) in \(subject)")
        if model.matchesWhole(subject) { matchCount += 1 }
      }
    }
    #expect(matchCount > Self.pairCount / 50)
  }

  @Test(
    .enabled(if: Programs.path("grep") != nil, "grep is not installed: nothing independent to compare with"))
  func `a pattern matches what grep -E matches, whole and in part`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let batchCount = 50
    for _ in 0..<max(1, Self.pairCount / (Self.textCount * batchCount)) {
      let patterns = (0..<batchCount).map { _ in
        PatternModel.random(&random, depth: 4, isCommon: true).text(&random, isCommon: true)
      }
      let texts = (0..<Self.textCount).map { _ in PatternModel.text(&random) }
      var lines = String.UnicodeScalarView()
      for text in texts { lines += text + ["\n"] }
      let script = """
        while IFS= read -r pattern; do
          for whole in -x ''; do grep -nE $whole -e "$pattern" texts | cut -d: -f1 | tr '\\n' ' '; echo; done
        done < patterns
        """
      let output = try Programs.run(
        "/bin/sh", ["-c", script],
        files: ["patterns": patterns.map { $0 + "\n" }.joined(), "texts": String(lines)])
      let answers = output.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, text) in patterns.enumerated() {
        for isWhole in [true, false] {
          let pattern = try Pattern(text, isWhole: isWhole)
          let found = texts.indices.filter { matches(pattern, texts[$0]) }.map { $0 + 1 }
          let wanted = answers[2 * index + (isWhole ? 0 : 1)].split(separator: " ").compactMap { Int($0) }
          #expect(
            found == wanted,
            "\(text), \(isWhole ? "whole" : "in part"), of \(texts.map { String(describing: $0) })")
        }
      }
    }
  }

  @Test func `a pattern that ignores case takes each scalar that folds to the same, and no other`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let scalars = "aAsSſßẞσΣςkK\u{212A}éÉıiIİǅǆᾀᾈﬅﬆ".unicodeScalars.map { $0 }
    for _ in 0..<Self.pairCount {
      let letters = (0..<3).map { _ in scalars[Int.random(in: scalars.indices, using: &random)] }
      let text = (0..<3).map { _ in scalars[Int.random(in: scalars.indices, using: &random)] }
      let isClass = Bool.random(using: &random)
      let isNegated = isClass && Bool.random(using: &random)
      let pattern = letters.map { isClass ? "[\(isNegated ? "^" : "")\($0)]" : String($0) }.joined()
      let wanted = zip(letters, text).allSatisfy {
        (CaseFolding.folded($0.value) == CaseFolding.folded($1.value)) != isNegated
      }
      let compiled = try Pattern(pattern, isWhole: true, ignoresCase: true)
      #expect(matches(compiled, text) == wanted, "\(pattern) of \(text)")
    }
  }

  @Test func `whatever the text of a pattern, it is taken, or refused with a place in it`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pieces = [
      "a", "b", "é", ".", "*", "+", "?", "{", "}", "2", ",", "(", "(?:", "(?", "(?=", "(?<", ")", "|", "[",
      "[^", "]",
      "-", "^", "$", "\\", "\\d", "\\W", "\\b", "\\B", "\\1", "\\p{L}", "\\u{", "\\x", "[a-", "&&", " ",
    ]
    var takenCount = 0
    for _ in 0..<4 * Self.pairCount {
      let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        pieces[Int.random(in: pieces.indices, using: &random)]
      }.joined()
      do throws(PatternError) {
        let pattern = try Pattern(
          text, isWhole: Bool.random(using: &random), ignoresCase: Bool.random(using: &random))
        takenCount += 1
        for subject in ["", "a", "ab", "é2", "{,}"] { _ = matches(pattern, Array(subject.unicodeScalars)) }
      } catch {
        #expect(error.scalars.upperBound <= text.unicodeScalars.count, "\(text): \(error)")
        #expect(!error.message.isEmpty && !error.next.isEmpty)
      }
    }
    #expect(takenCount > Self.pairCount / 2)
  }
}
