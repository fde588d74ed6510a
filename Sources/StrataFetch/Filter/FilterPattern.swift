// A regular expression that many threads can share.

internal import Synchronization

/// A compiled pattern. A `Regex` is not `Sendable`, so that it is kept behind a lock, and matched there.
final class FilterPattern: Sendable {
  /// The longest pattern, in UTF-8 bytes.
  static let byteCountMax = 4096

  private let regex: Mutex<Regex<AnyRegexOutput>>

  /// Compiles a pattern in Swift's grammar.
  init(_ pattern: String, ignoresCase: Bool) throws(FilterPatternError) {
    guard pattern.utf8.count <= Self.byteCountMax else {
      throw FilterPatternError(message: "longer than \(Self.byteCountMax) bytes")
    }
    do {
      let compiled = try Regex(pattern)
      regex = Mutex(ignoresCase ? compiled.ignoresCase() : compiled)
    } catch {
      throw FilterPatternError(message: "\(error)")
    }
  }

  /// Whether the whole text matches. What it costs depends on the pattern.
  func matches(_ text: String) -> Bool {
    regex.withLock { regex in
      do { return try regex.wholeMatch(in: text) != nil } catch { return false }
    }
  }
}

/// Why a text is no pattern.
struct FilterPatternError: Error {
  var message: String
}
