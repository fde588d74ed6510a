// Patterns for names: `*` matches any run of characters (`/` too), `?` one character, `[a-z]` and `[!a-z]` one
// character of a set; `\` quotes the next character.

/// A compiled pattern.
struct Glob: Sendable {
  private enum Part: Sendable {
    case one(Unicode.Scalar)
    case any
    case run
    case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)
  }

  /// The pattern's text.
  let pattern: String
  private let parts: [Part]
  /// The bytes to compare with, if the pattern has no special character.
  private let literal: [UInt8]?

  /// Nil if a set is not closed or runs from a higher to a lower character, or if a backslash ends the pattern.
  init?(_ pattern: String) {
    self.pattern = pattern
    var parts: [Part] = []
    var rest = Array(pattern.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "*": parts.append(.run)
      case "?": parts.append(.any)
      case "\\":
        guard let next = rest.popFirst() else { return nil }
        parts.append(.one(next))
      case "[":
        guard let set = Self.set(&rest) else { return nil }
        parts.append(set)
      default: parts.append(.one(scalar))
      }
    }
    self.parts = parts
    var text = String.UnicodeScalarView()
    for part in parts {
      guard case .one(let scalar) = part else {
        literal = nil
        return
      }
      text.append(scalar)
    }
    literal = Array(String(text).utf8)
  }

  /// Whether the pattern matches exactly one text.
  var isLiteral: Bool { literal != nil }

  private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Part? {
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    let isNegated = rest.first == "!" || rest.first == "^"
    if isNegated { rest.removeFirst() }
    var isFirst = true
    while let scalar = rest.popFirst() {
      if scalar == "]", !isFirst { return .set(ranges, isNegated: isNegated) }
      isFirst = false
      if rest.first == "-", let end = rest.dropFirst().first, end != "]" {
        rest.removeFirst(2)
        guard scalar <= end else { return nil }
        ranges.append(scalar...end)
      } else {
        ranges.append(scalar...scalar)
      }
    }
    return nil
  }

  /// Whether the whole text matches. O(text × runs).
  func matches(_ text: String) -> Bool {
    if let literal { return text.utf8.elementsEqual(literal) }
    let scalars = Array(text.unicodeScalars)
    var place = 0
    var part = 0
    // Where to continue if the parts after the last run do not match: one character further.
    var retry: (part: Int, place: Int)?
    while place < scalars.count {
      if part < parts.count, case .run = parts[part] {
        part += 1
        retry = (part, place)
      } else if part < parts.count, Self.fits(parts[part], scalars[place]) {
        part += 1
        place += 1
      } else if let last = retry {
        retry = (last.part, last.place + 1)
        (part, place) = (last.part, last.place + 1)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { if case .run = $0 { true } else { false } }
  }

  private static func fits(_ part: Part, _ scalar: Unicode.Scalar) -> Bool {
    switch part {
    case .one(let wanted): wanted == scalar
    case .any: true
    case .run: false
    case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
    }
  }
}
