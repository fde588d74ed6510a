// The folding of case, compared with Python's.

internal import Foundation
@testable internal import StrataBase
internal import StrataSimulation
internal import Testing

@Suite struct CaseFoldingTests {
  private static let python = Programs.path("python3")
  private static let isNeeded: ConditionTrait = .enabled(
    if: python != nil, "python3 is not installed: nothing independent to compare with")

  /// The scalars that the table's version of Unicode knows: of later ones, each program may know others.
  private func isKnown(_ scalar: Unicode.Scalar) -> Bool {
    guard let age = scalar.properties.age else { return false }
    let known = CaseFolding.unicodeVersion.split(separator: ".").compactMap { Int($0) }
    return (age.major, age.minor) <= (known[0], known[1])
  }

  private func folded(_ scalar: UInt32) -> [UInt32] {
    var scalars: [UInt32] = []
    CaseFolding.folded(scalar).forEach { scalars.append($0) }
    return scalars
  }

  @Test(isNeeded) func `every character folds as in Python`() throws {
    let script = """
      for code in range(0x110000):
          if not 0xD800 <= code <= 0xDFFF and chr(code).casefold() != chr(code):
              print(code, *map(ord, chr(code).casefold()))
      """
    var wanted: [UInt32: [UInt32]] = [:]
    for line in try Programs.run(try #require(Self.python), ["-c", script]).split(separator: "\n") {
      let numbers = line.split(separator: " ").compactMap { UInt32($0) }
      wanted[numbers[0]] = Array(numbers[1...])
    }
    #expect(wanted.count > 1_500)
    for value in UInt32(0)...0x10_FFFF {
      let found = folded(value)
      guard found != [value] || wanted[value] != nil, let scalar = Unicode.Scalar(value), isKnown(scalar)
      else {
        continue
      }
      #expect(found == wanted[value] ?? [value], "U+\(String(value, radix: 16))")
    }
  }

  @Test(isNeeded) func `random texts fold as in Python`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let count = max(500, ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 0)
    let letters = "aZſßẞΣσςİıΐŉǰﬀﬃﬆᾳᾼΆÅÅK漢😀é-1\u{345}\u{307}".unicodeScalars.map { $0 }
    let texts = (0..<count).map { _ -> String in
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let other = Unicode.Scalar(UInt32.random(in: 0x20...0x24FF, using: &random))
        guard Bool.random(using: &random), let other, isKnown(other), other != "\u{2028}", other != "\u{2029}"
        else {
          text.append(letters[Int.random(in: letters.indices, using: &random)])
          continue
        }
        text.append(other)
      }
      return String(text)
    }
    let script = "for line in open('texts', newline='\\n'): print(line[:-1].casefold().encode().hex())"
    let output = try Programs.run(
      try #require(Self.python), ["-c", script], files: ["texts": texts.map { $0 + "\n" }.joined()])
    let wanted = output.split(separator: "\n").map(String.init)
    #expect(wanted.count == texts.count)
    for (text, wanted) in zip(texts, wanted) {
      let found = CaseFolding.folded(text).map { String(format: "%02x", $0) }.joined()
      #expect(found == wanted, "\(text)")
    }
  }

  @Test(isNeeded) func `the table is what its script makes of the same version of Unicode`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let script = root.appendingPathComponent("Tools/support/unicode-table").path
    let python = try #require(Self.python)
    let version = try Programs.run(python, [script, "--version"]).trimmingCharacters(in: .newlines)
    // Another version makes another table, and is no fault of this one.
    guard version == CaseFolding.unicodeVersion else { return }
    _ = try Programs.run(python, [script])
  }

  @Test func `what folds to the same is one family, and folding twice is folding once`() {
    for (folded, family) in CaseFolding.families {
      #expect(family.count > 1 && Set(family).count == family.count)
      for scalar in family {
        #expect(CaseFolding.folded(scalar) == folded)
        #expect(Set(CaseFolding.alike(scalar)) == Set(family))
      }
      folded.forEach { #expect(self.folded($0) == [$0]) }
    }
    #expect(Set(CaseFolding.alike(0x4B)) == [0x4B, 0x6B, 0x212A])
    #expect(Set(CaseFolding.alike(0xDF)) == [0xDF, 0x1E9E])
    #expect(CaseFolding.alike(0x31) == [0x31])
  }
}
