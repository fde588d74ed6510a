// Random patterns, and which texts they match by their definition.

internal import StrataSimulation

/// A pattern as a tree that knows its text and its meaning.
indirect enum PatternModel {
  case scalar(Unicode.Scalar)
  /// A class: its text, and the scalars of the alphabet that are in it.
  case members(text: String, Set<Unicode.Scalar>)
  case start, end
  case sequence([PatternModel])
  case choice([PatternModel])
  case repetition(PatternModel, least: Int, most: Int?)

  /// The scalars of texts.
  static let alphabet: [Unicode.Scalar] = ["a", "b", "é", "漢", "-", " ", "{", "."]

  /// The ends of all matches that begin at one of these positions.
  func ends(_ text: [Unicode.Scalar], from starts: Set<Int>) -> Set<Int> {
    switch self {
    case .scalar(let scalar):
      return Set(starts.filter { $0 < text.count && text[$0] == scalar }.map { $0 + 1 })
    case .members(_, let members):
      return Set(starts.filter { $0 < text.count && members.contains(text[$0]) }.map { $0 + 1 })
    case .start: return starts.intersection([0])
    case .end: return starts.intersection([text.count])
    case .sequence(let parts): return parts.reduce(starts) { $1.ends(text, from: $0) }
    case .choice(let parts): return parts.reduce(into: []) { $0.formUnion($1.ends(text, from: starts)) }
    case .repetition(let part, let least, let most):
      var ends = starts
      for _ in 0..<least { ends = part.ends(text, from: ends) }
      var all = ends
      // Beyond the length of the text, more repetitions reach nothing new.
      for _ in least..<min(most ?? .max, max(least, least + text.count + 1)) {
        ends = part.ends(text, from: ends)
        all.formUnion(ends)
      }
      return all
    }
  }

  func matchesWhole(_ text: [Unicode.Scalar]) -> Bool { ends(text, from: [0]).contains(text.count) }

  func matchesPart(of text: [Unicode.Scalar]) -> Bool { !ends(text, from: Set(0...text.count)).isEmpty }

  /// The pattern's text; where there are two ways to write it, the form chooses.
  func text(_ form: inout SeededGenerator, isCommon: Bool) -> String {
    func isChance(_ form: inout SeededGenerator) -> Bool { Int.random(in: 0..<4, using: &form) == 0 }
    switch self {
    case .scalar(let scalar):
      let isSpecial = "{.".unicodeScalars.contains(scalar)
      return (isSpecial ? "\\" : "") + String(scalar)
    case .members(let text, _): return text
    case .start: return "^"
    case .end: return "$"
    case .sequence(let parts):
      return parts.map { part in
        let text = part.text(&form, isCommon: isCommon)
        if case .choice = part { return group(text, &form, isCommon) }
        return text
      }.joined()
    case .choice(let parts): return parts.map { $0.text(&form, isCommon: isCommon) }.joined(separator: "|")
    case .repetition(let part, let least, let most):
      var text = part.text(&form, isCommon: isCommon)
      switch part {
      case .scalar, .members: break
      default: text = group(text, &form, isCommon)
      }
      switch (least, most) {
      case (0, nil): text += "*"
      case (1, nil): text += "+"
      case (0, 1?): text += "?"
      case (let least, nil): text += "{\(least),}"
      case (let least, let most?) where least == most: text += "{\(least)}"
      case (0, let most?) where isChance(&form): text += "{,\(most)}"
      case (let least, let most?): text += "{\(least),\(most)}"
      }
      return text + (!isCommon && isChance(&form) ? "?" : "")
    }
  }

  private func group(_ text: String, _ form: inout SeededGenerator, _ isCommon: Bool) -> String {
    (isCommon || Bool.random(using: &form) ? "(" : "(?:") + text + ")"
  }

  /// Classes, of which those that `grep -E` does not have come last.
  private static let classes: [(text: String, members: String)] = [
    (".", "abé漢- {."), ("[ab]", "ab"), ("[^a]", "bé漢- {."), ("[a-c]", "ab"), ("[é漢]", "é漢"), ("[-a]", "a-"),
    ("[a-]", "a-"), ("[^é漢]", "ab- {."), ("[.{]", ".{"), (#"\w"#, "abé漢"), (#"\W"#, "- {."), (#"\s"#, " "),
    (#"\S"#, "abé漢-{."), (#"[\w.]"#, "abé漢."), (#"[^\s\-]"#, "abé漢{."), (#"[\W]"#, "- {."), (#"\d"#, ""),
    ("[à-ÿ]", "é"),
    (#"\u{e9}"#, "é"), (#"\x61"#, "a"), (#"[\u0061-b]"#, "ab"),
  ]
  private static let commonClassCount = 13

  static func random(_ random: inout SeededGenerator, depth: Int, isCommon: Bool) -> PatternModel {
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    switch number(0..<(depth > 0 ? 12 : 5)) {
    case 0, 1, 2: return .scalar(alphabet[number(0..<alphabet.count)])
    case 3:
      let found = classes[number(0..<(isCommon ? commonClassCount : classes.count))]
      return .members(text: found.text, Set(found.members.unicodeScalars))
    case 4: return number(0..<4) == 0 ? (number(0..<2) == 0 ? .start : .end) : .scalar("a")
    case 5, 6, 7:
      return .sequence(
        (0..<number(0..<4)).map { _ in Self.random(&random, depth: depth - 1, isCommon: isCommon) })
    case 8, 9:
      return .choice(
        (0..<number(2..<4)).map { _ in Self.random(&random, depth: depth - 1, isCommon: isCommon) })
    default:
      let least = [0, 0, 0, 1, 1, 2][number(0..<6)]
      let most = number(0..<2) == 0 ? nil : least + number(0..<3)
      return .repetition(Self.random(&random, depth: depth - 1, isCommon: isCommon), least: least, most: most)
    }
  }

  static func text(_ random: inout SeededGenerator) -> [Unicode.Scalar] {
    (0..<Int.random(in: 0...7, using: &random)).map { _ in
      // Mostly few letters, so that there are matches.
      alphabet[
        Int.random(in: 0..<(Int.random(in: 0..<3, using: &random) == 0 ? alphabet.count : 2), using: &random)]
    }
  }
}
