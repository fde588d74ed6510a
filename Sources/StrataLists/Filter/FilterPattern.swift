// A regular expression that several threads can share.

/// A compiled pattern: an immutable value that any number of threads can match at the same time.
///
/// `Regex` is not `Sendable`, because a regex built in code may hold closures of the program. A regex made from text
/// holds none, and what the standard library derives from it at the first match is published atomically.
final class FilterPattern: Sendable {
  /// The longest pattern, in UTF-8 bytes.
  static let byteCountMax = 4096

  /// The maximum number of brackets, opening parentheses and set operators in a pattern, including escaped ones. The
  /// standard library's parser recurses for each of them, and a hundred are too many for a stack of 512 KiB.
  static let nestingMax = 32

  nonisolated(unsafe) private let regex: Regex<AnyRegexOutput>

  /// Compiles a pattern in Swift's grammar.
  init(_ pattern: String, ignoresCase: Bool) throws(FilterPatternError) {
    guard pattern.utf8.count <= Self.byteCountMax else {
      throw FilterPatternError(message: "longer than \(Self.byteCountMax) bytes")
    }
    guard Self.nesting(of: pattern) <= Self.nestingMax else {
      throw FilterPatternError(message: "more than \(Self.nestingMax) groups, classes and set operators")
    }
    guard !Self.repeatsNothing(pattern) else {
      throw FilterPatternError(message: "repeats something zero times; leave it out")
    }
    do {
      let compiled = try Regex(pattern)
      regex = ignoresCase ? compiled.ignoresCase() : compiled
    } catch {
      throw FilterPatternError(message: "\(error)")
    }
  }

  /// An upper bound on how often the pattern opens a group, class or set operation.
  private static func nesting(of pattern: String) -> Int {
    var count = 0
    var previous: UInt8 = 0
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["): count += 1
      case UInt8(ascii: "-"), UInt8(ascii: "&"), UInt8(ascii: "~"): count += byte == previous ? 1 : 0
      default: break
      }
      previous = byte
    }
    return count
  }

  /// Whether a quantifier has the upper bound zero, as in `(a){0}`, `(a){0,0}` and `(a){,0}`. It never makes its group,
  /// and the standard library traps where a match refers back to such a group. In a class, `{0}` counts as one too.
  private static func repeatsNothing(_ pattern: String) -> Bool {
    let scalars = Array(pattern.unicodeScalars)
    var index = 0
    while index < scalars.count {
      switch scalars[index] {
      case "\\":
        index += 1
        // The brace after these letters holds the number of a scalar.
        let isNumbered = index + 1 < scalars.count && "uxo".unicodeScalars.contains(scalars[index])
        if isNumbered, scalars[index + 1] == "{" { index += 1 }
      case "{":
        let inside = scalars[(index + 1)...].prefix { $0 != "}" }
        let bounds = inside.filter { !$0.properties.isPatternWhitespace }
        let upper = bounds.reversed().prefix { $0 != "," }
        let isCount = bounds.allSatisfy { $0 == "," || "0"..."9" ~= $0 }
        if isCount, !upper.isEmpty, upper.allSatisfy({ $0 == "0" }) { return true }
      default: break
      }
      index += 1
    }
    return false
  }

  /// Whether the whole text matches. The cost depends on the pattern: `(a*)*b` takes time that doubles with each
  /// letter.
  func matches(_ text: String) -> Bool {
    do { return try regex.wholeMatch(in: text) != nil } catch { return false }
  }
}

/// Why a text is not a pattern.
struct FilterPatternError: Error {
  var message: String
}
