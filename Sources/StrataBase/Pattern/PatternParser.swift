// A parser of patterns without recursion.

/// The grammar, by Unicode scalar:
///
/// ```
/// choice      sequence ("|" sequence)*
/// sequence    (piece | "^" | "$" | "\b" | "\B")*
/// piece       atom quantifier?
/// quantifier  ("*" | "+" | "?" | "{" m "}" | "{" m "," n? "}" | "{," n "}") "?"?
/// atom        "(" choice ")" | "(?:" choice ")" | "." | class | escape | any other scalar
/// class       "[" "^"? (member | member "-" member)+ "]"
/// ```
///
/// The nodes that a pattern is expanded to are counted before any of them is made.
struct PatternParser {
  /// One group that is open.
  private struct Frame {
    /// Where the group begins.
    var opening: Range<Int>
    var choices: [Int] = []
    var sequence: [Int] = []
    /// The states of the choices and of the sequence so far.
    var size = 1
  }

  let scalars: [Unicode.Scalar]
  let ignoresCase: Bool
  var index = 0
  private var tree = PatternTree()
  private var frames = [Frame(opening: 0..<0)]

  static func parse(_ text: String, ignoresCase: Bool) throws(PatternError) -> PatternTree {
    guard text.utf8.count <= Pattern.byteCountMax else {
      throw PatternError(
        "it is longer than \(Pattern.byteCountMax) bytes", "write a shorter pattern", at: 0..<0)
    }
    var parser = PatternParser(text, ignoresCase)
    try parser.parse()
    return parser.tree
  }

  private init(_ text: String, _ ignoresCase: Bool) {
    scalars = Array(text.unicodeScalars)
    self.ignoresCase = ignoresCase
  }

  /// The next scalar, nil at the end.
  var next: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  func error(_ message: String, _ next: String, from start: Int) -> PatternError {
    PatternError(message, next, at: min(start, scalars.count)..<max(start, min(index, scalars.count)))
  }

  private mutating func parse() throws(PatternError) {
    while let scalar = next {
      let start = index
      index += 1
      switch scalar {
      case "(": try open(from: start)
      case ")": try close(from: start)
      case "|": endSequence()
      case "^": try append(tree.add(.assertion(.start)), from: start)
      case "$": try append(tree.add(.assertion(.end)), from: start)
      case ".": try appendPiece(tree.add(ScalarSet.anything), from: start)
      case "[": try appendPiece(add(try readClass(from: start)), from: start)
      case "\\": try appendEscape(from: start)
      default:
        index = start
        if try readQuantifier() != nil {
          throw error(
            "nothing is before this that could be repeated", "write \\ before it if it is meant itself",
            from: start)
        }
        index = start + 1
        try appendPiece(add(ScalarSet(scalar.value)), from: start)
      }
    }
    guard frames.count == 1 else {
      throw PatternError(
        "this group is never closed", "write ) after it, or \\( for itself",
        at: frames[frames.count - 1].opening)
    }
    tree.root = endFrame()
  }

  private mutating func add(_ set: ScalarSet) -> Int { tree.add(ignoresCase ? set.ignoringCase : set) }

  private mutating func appendEscape(from start: Int) throws(PatternError) {
    switch try readEscape(from: start, isInClass: false) {
    case .set(let set): try appendPiece(add(set), from: start)
    case .assertion(let assertion): try append(tree.add(.assertion(assertion)), from: start)
    }
  }

  /// Appends a node to the sequence, unless there are too many states.
  private mutating func append(_ node: Int, from start: Int) throws(PatternError) {
    let size = frames[frames.count - 1].size + tree.sizes[node]
    guard size <= Pattern.stateCountMax else { throw tooLarge(size, from: start) }
    frames[frames.count - 1].size = size
    frames[frames.count - 1].sequence.append(node)
  }

  private func tooLarge(_ size: Int, from start: Int) -> PatternError {
    error(
      "with this the pattern has \(size) states, and at most \(Pattern.stateCountMax) are taken",
      "repeat less, or leave the upper bound out", from: start)
  }

  /// Appends what may be repeated, with its quantifier.
  private mutating func appendPiece(_ atom: Int, from start: Int) throws(PatternError) {
    let quantifier = index
    guard let (least, most) = try readQuantifier() else { return try append(atom, from: start) }
    // A lazy quantifier takes less where there is a choice, which decides nothing about whether there is a match.
    if !skip("?"), next == "+" {
      index += 1
      throw error(
        "possessive quantifiers are not taken", "write the quantifier without this +", from: index - 1)
    }
    let second = index
    if try readQuantifier() != nil {
      throw error(
        "what is repeated already is repeated", "write a group around it, as in (?:a*){2}", from: second)
    }
    let node = tree.add(.repetition(atom, least: least, most: most))
    guard tree.sizes[node] <= Pattern.stateCountMax else {
      throw tooLarge(tree.sizes[node], from: quantifier)
    }
    try append(node, from: start)
  }

  /// Reads a quantifier, if there is one here.
  private mutating func readQuantifier() throws(PatternError) -> (least: Int, most: Int?)? {
    switch next {
    case "*": index += 1; return (0, nil)
    case "+": index += 1; return (1, nil)
    case "?": index += 1; return (0, 1)
    case "{": return try readBounds()
    default: return nil
    }
  }

  /// Reads bounds in braces. A brace that is followed by anything but bounds is meant itself.
  private mutating func readBounds() throws(PatternError) -> (least: Int, most: Int?)? {
    let start = index
    let inside = scalars[(start + 1)...].prefix { "0"..."9" ~= $0 || $0 == "," || $0 == " " }
    guard inside.contains(where: { $0 != " " }), inside.endIndex < scalars.count,
      scalars[inside.endIndex] == "}"
    else { return nil }
    index = inside.endIndex + 1
    let parts = inside.split(separator: ",", omittingEmptySubsequences: false).map { Self.number($0) }
    switch (parts.count, parts[0], parts[parts.count - 1]) {
    case (1, .some(let count?), _): return (count, count)
    case (2, .some(let least?), .some(nil)): return (least, nil)
    case (2, .some(nil), .some(let most?)): return (0, most)
    case (2, .some(let least?), .some(let most?)) where least <= most: return (least, most)
    default:
      throw error(
        "these are no bounds", "write them as {2}, {2,}, {,3} or {2,3}, or \\{ for a brace itself",
        from: start)
    }
  }

  /// A number, a missing one as nil, or nil for what is none. Numbers above the maximum of states are all alike.
  private static func number(_ digits: ArraySlice<Unicode.Scalar>) -> Int?? {
    if digits.isEmpty { return .some(nil) }
    guard digits.allSatisfy({ "0"..."9" ~= $0 }) else { return nil }
    return digits.reduce(0) { min(10 * $0 + Int($1.value - 0x30), Pattern.stateCountMax + 1) }
  }
}

extension PatternParser {
  private mutating func open(from start: Int) throws(PatternError) {
    if skip("?") {
      guard skip(":") else { throw specialGroup(from: start) }
    }
    guard frames.count <= Pattern.nestingMax else {
      throw error(
        "groups are nested deeper than \(Pattern.nestingMax)", "write fewer parentheses", from: start)
    }
    frames.append(Frame(opening: start..<index))
  }

  /// The error for a group of a kind that an automaton does not have.
  private mutating func specialGroup(from start: Int) -> PatternError {
    let kind = String(String.UnicodeScalarView(scalars[index..<min(index + 2, scalars.count)]))
    index = min(index + 1, scalars.count)
    switch kind.unicodeScalars.first {
    case "=", "!":
      return error("look-ahead is not taken", "combine two conditions with && instead", from: start)
    case "<" where kind == "<=" || kind == "<!":
      index += 1
      return error("look-behind is not taken", "combine two conditions with && instead", from: start)
    case "<", "P", "'": return error("named groups are not taken", "write ( without a name", from: start)
    case ">": return error("atomic groups are not taken", "write (?: instead", from: start)
    case "R", "&", "0", "1": return error("recursion is not taken", "write the pattern out", from: start)
    case "(": return error("conditions are not taken", "write | between the two cases", from: start)
    case "#": return error("comments are not taken", "leave it out", from: start)
    case nil: return error("this group is never closed", "write ) after it, or \\( for itself", from: start)
    default:
      return error(
        "options inside a pattern are not taken",
        "write (?: instead, and ignore case by [c] after the operator", from: start)
    }
  }

  private mutating func close(from start: Int) throws(PatternError) {
    guard frames.count > 1 else {
      throw error("this parenthesis was never opened", "write ( before, or \\) for itself", from: start)
    }
    let opening = frames[frames.count - 1].opening
    try appendPiece(endFrame(), from: opening.lowerBound)
  }

  private mutating func endSequence() {
    let last = frames.count - 1
    frames[last].choices.append(tree.add(.sequence(frames[last].sequence)))
    frames[last].sequence = []
    frames[last].size += 3
  }

  /// Ends the innermost group and returns its node.
  private mutating func endFrame() -> Int {
    endSequence()
    let frame = frames.removeLast()
    return frame.choices.count == 1 ? frame.choices[0] : tree.add(.choice(frame.choices))
  }
}
