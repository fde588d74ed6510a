// A regular expression that many threads can share.

/// A compiled pattern: an immutable value, which any number of threads match at the same time.
///
/// `Regex` is not `Sendable`, since one that is put together in code may hold closures of the program. One that is made
/// of a text holds none, and what the standard library makes of it at the first match is published atomically.
final class FilterPattern: Sendable {
  /// The longest pattern, in UTF-8 bytes.
  static let byteCountMax = 4096

  /// The most brackets, opening parentheses and set operators in a pattern, escaped ones too. The standard
  /// library's parser descends for each of them, and a hundred are too much for a stack of 512 KiB.
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
    do {
      let compiled = try Regex(pattern)
      regex = ignoresCase ? compiled.ignoresCase() : compiled
    } catch {
      throw FilterPatternError(message: "\(error)")
    }
  }

  /// How often the pattern opens something, at most.
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

  /// Whether the whole text matches. What it costs depends on the pattern: `(a*)*b` takes
  /// time that doubles with each letter.
  func matches(_ text: String) -> Bool {
    do { return try regex.wholeMatch(in: text) != nil } catch { return false }
  }
}

/// Why a text is no pattern.
struct FilterPatternError: Error {
  var message: String
}
