// A regular expression that is matched in linear time, by any number of threads at once.

/// A compiled pattern. Its grammar is described beside the filters, on the page on requests.
///
/// The time to match a text is at most proportional to the text's length times the number of the pattern's states, and
/// what a pattern keeps in memory is limited, whatever the pattern and the text are.
package final class Pattern: Sendable {
  /// The longest pattern, in UTF-8 bytes.
  package static let byteCountMax = 4_096
  /// The most states that a pattern is expanded to.
  package static let stateCountMax = 10_000
  /// How deep groups may be nested.
  package static let nestingMax = 100

  /// The most idle automata that a pattern keeps, one for each thread that matched it at once with others.
  private static let idleCountMax = 16

  private let program: PatternProgram
  /// The number of states that the pattern is expanded to, and those that begin and end a match.
  package var stateCount: Int { program.instructions.count }
  /// The text that alone is matched, or searched for, if there is one.
  package let literal: [UInt8]?
  private let idle: Lock<[PatternRun]>

  /// Compiles a pattern. O(length · states).
  ///
  /// - Parameters:
  ///   - isWhole: whether the pattern has to match the whole text, and not a part of it.
  ///   - ignoresCase: whether each scalar of the pattern matches all that fold to the same. The text is not folded:
  ///     ß matches ẞ, and not ss.
  package init(_ text: String, isWhole: Bool, ignoresCase: Bool = false) throws(PatternError) {
    let tree = try PatternParser.parse(text, ignoresCase: ignoresCase)
    program = PatternProgram(tree, isWhole: isWhole)
    literal = tree.literal
    idle = Lock([])
  }

  /// Whether the pattern matches UTF-8. Bytes that are not UTF-8 are matched as U+FFFD.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool { counted(text).isMatch }

  /// Whether the pattern matches a text, and the number of steps that this took.
  package func counted(_ text: UnsafeRawBufferPointer) -> (isMatch: Bool, stepCount: Int) {
    let run = idle.withLock { $0.popLast() } ?? PatternRun(program)
    let before = run.stepCount
    let isMatch = run.matches(text)
    let stepCount = run.stepCount - before
    idle.withLock { if $0.count < Self.idleCountMax { $0.append(run) } }
    return (isMatch, stepCount)
  }
}

extension PatternTree {
  /// The UTF-8 of the one text that the pattern matches, if it is a sequence of single scalars.
  fileprivate var literal: [UInt8]? {
    guard case .sequence(let parts) = nodes[root] else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
      guard case .set(let set) = nodes[part], let scalar = sets[set].only else { return nil }
      UTF8Scalars.append(scalar, to: &bytes)
    }
    return bytes
  }
}
