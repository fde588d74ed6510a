// One decision of a generator. A case is a sequence of them, and shrinking works on that sequence alone.

/// One decision: how far a number is from the simplest one of its range.
///
/// Every value is drawn as numbers, a number has a simplest value, its target, and this is the distance from there. So
/// all choices are compared and lowered alike, whatever a generator makes of them.
struct Choice: Hashable, Sendable {
  enum Kind: UInt8, Sendable {
    /// A distance from a target.
    case integer
    /// A code of ``FloatOrder``.
    case float
    /// 1 where a list goes on, 0 where it ends.
    case flag
  }

  var kind: Kind
  /// The distance from the target, and in which direction: up, or down if it is negative.
  var magnitude: UInt64
  var isNegative: Bool
  /// Whether the generator left no choice here.
  var isForced: Bool
  /// The greatest distances upwards and downwards.
  var up: UInt64
  var down: UInt64

  init(_ kind: Kind, up: UInt64, down: UInt64 = 0) {
    (self.kind, self.up, self.down) = (kind, up, down)
    (magnitude, isNegative, isForced) = (0, false, false)
  }

  /// Returns the same choice at another distance, or nil if its range does not go there.
  func at(_ magnitude: UInt64, isNegative: Bool) -> Choice? {
    guard magnitude <= (isNegative ? down : up) else { return nil }
    var choice = self
    choice.magnitude = magnitude
    // Only of floating-point numbers are there two zeros.
    choice.isNegative = isNegative && (magnitude > 0 || kind == .float)
    return choice
  }

  var isSimplest: Bool { (magnitude == 0 && !isNegative) || isForced }

  /// Whether the decision is the same, whatever the range was.
  func isSame(as other: Choice) -> Bool {
    magnitude == other.magnitude && isNegative == other.isNegative && kind == other.kind
  }

  /// Nearer to the target is simpler, and up is simpler than down.
  func isSimpler(than other: Choice) -> Bool {
    if magnitude != other.magnitude { return magnitude < other.magnitude }
    return !isNegative && other.isNegative
  }
}

extension Array where Element == Choice {
  /// Whether these are fewer choices, or as many and the first different one is simpler: the order in which shrinking
  /// descends. O(n).
  func isSimpler(than other: [Choice]) -> Bool {
    if count != other.count { return count < other.count }
    for index in indices where !self[index].isSame(as: other[index]) {
      return self[index].isSimpler(than: other[index])
    }
    return false
  }

  /// A hash of the decisions alone, the same on every machine. O(n).
  var fingerprint: UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for choice in self {
      let kind = UInt64(choice.kind.rawValue) << 1 | (choice.isNegative ? 1 : 0)
      hash = ((hash ^ choice.magnitude) &* 0xBF58_476D_1CE4_E5B9) ^ kind
      hash = hash &* 0x94D0_49BB_1331_11EB
      hash ^= hash >> 29
    }
    return hash ^ UInt64(count)
  }
}

/// The choices that one generator made within another: `start..<end` of the sequence.
struct Span: Sendable {
  var start: Int
  var end: Int
  /// The index of the span around this one, or −1.
  var parent: Int
  /// Equal for spans whose generators make values of the same type.
  var label: Int
  /// Whether it is an element of a list, with the flag before it.
  var isElement: Bool
}
