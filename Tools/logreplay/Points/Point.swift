// Points of the log as users write them: `18234`, `head~3`, `id:import-7`, `yesterday`.

package import StrataEvents

/// A name for a position in the log, which `PointResolver` resolves.
package enum Point: Hashable, Sendable {
  case sequence(UInt64)
  case head
  /// This many appends before the head.
  case back(UInt64)
  case first
  /// An append's id, or a unique prefix of it.
  case id(String)
  case mark(String)
  case cursor(LogPosition)
  /// Nanoseconds since 1970.
  case time(Int64)
}

extension Point {
  /// Parses a point. Throws an error that says what is wrong and shows what points look like.
  package init(reading text: String, times: TimeText) throws(PointProblem) {
    if let point = try Point(keyword: text) {
      self = point
    } else if let time = times.nanoseconds(text) {
      self = .time(time)
    } else {
      throw Self.malformed(text)
    }
  }

  /// Parses every kind of point except times, which need a "now" and a zone. Nil if the text may be a time.
  private init?(keyword text: String) throws(PointProblem) {
    if text.isDigits {
      guard let sequence = UInt64(text) else { throw Self.malformed(text) }
      self = .sequence(sequence)
      return
    }
    if text == "head" {
      self = .head
      return
    }
    if text == "first" {
      self = .first
      return
    }
    if text.hasPrefix("head~") {
      let count = text.dropFirst(5)
      guard count.isDigits, let count = UInt64(count) else { throw Self.malformed(text) }
      self = .back(count)
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let value = String(text[text.index(after: colon)...])
    switch text[..<colon] {
    case "seq":
      guard value.isDigits, let sequence = UInt64(value) else { throw Self.malformed(text) }
      self = .sequence(sequence)
    case "id":
      guard !value.isEmpty else { throw Self.malformed(text) }
      self = .id(value)
    case "mark":
      guard Self.isMarkName(value) else { throw Self.malformed(text) }
      self = .mark(value)
    case "cursor":
      guard let position = LogPosition(value) else { throw Self.malformed(text) }
      self = .cursor(position)
    default:
      return nil
    }
  }

  /// Letters, digits, `_ . - /`, and no `..`.
  private static func isMarkName(_ name: String) -> Bool {
    !name.isEmpty && !name.contains("..")
      && name.allSatisfy { $0.isLetter || $0.isNumber || "_.-/".contains($0) }
  }

  private static func malformed(_ text: String) -> PointProblem {
    PointProblem(
      "'\(text)' is not a point", at: text,
      next: "give a sequence, head, head~N, first, id:APPEND, cursor:SEQ@CHAIN, or a time such as "
        + PointGrammar.timeExamples)
  }
}

/// A range between two points, (from, to], either of which may be open: what `log` lists and `diff` compares.
package struct PointRange: Hashable, Sendable {
  /// The point after which the range begins; nil for the beginning of the log.
  package var from: Named?
  /// The last point of the range; nil for the head.
  package var to: Named?

  /// A point with the text that named it, for messages.
  package struct Named: Hashable, Sendable {
    package var text: String
    package var point: Point

    package init(text: String, point: Point) {
      self.text = text
      self.point = point
    }
  }

  /// Parses the arguments that follow the store: nothing, `A..B`, `A..`, `..B`, `B` alone (as `..B`), or two points.
  package init(reading words: [String], times: TimeText) throws(PointProblem) {
    func named(_ text: some StringProtocol) throws(PointProblem) -> Named? {
      let text = String(text)
      return text.isEmpty ? nil : Named(text: text, point: try Point(reading: text, times: times))
    }
    if words.contains("") {
      throw PointProblem(
        "a point is empty", at: "''", next: "leave it out, or name one: a variable of the shell may be unset")
    }
    switch words.count {
    case 0:
      return
    case 1:
      let parts = Self.split(words[0])
      guard parts.count <= 2 else {
        throw PointProblem(
          "'\(words[0])' contains more than one '..'", at: words[0],
          next: "give the two points as two arguments")
      }
      if parts.count == 2 { from = try named(parts[0]) }
      to = try named(parts[parts.count - 1])
    case 2:
      (from, to) = (try named(words[0]), try named(words[1]))
    default:
      throw PointProblem(
        "\(words.count) points are given, but a range has two", at: words[2],
        next: "quote a time that contains spaces, or write '2h30m.ago'")
    }
  }

  /// The parts between each `..`; three dots count as two of them.
  private static func split(_ text: String) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var index = start
    while index < text.endIndex {
      let next = text.index(after: index)
      if text[index] == ".", next < text.endIndex, text[next] == "." {
        parts.append(text[start..<index])
        start = text.index(after: next)
        // `a...b` is not a range: it could be split at either of the two positions.
        if start < text.endIndex, text[start] == "." { parts.append("") }
      }
      index = next
      if index < start { index = start }
    }
    parts.append(text[start...])
    return parts
  }
}
