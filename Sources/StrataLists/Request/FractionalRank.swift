// Fractional ranks: texts that sort by their bytes, with room for another one between any two.

/// Fractional indexing (D. Greenspan, "Implementing Fractional Indexing", 2020): a rank is the digits of a fraction
/// after its point, so that one moved row gets one new rank and all others keep theirs. The distance between ranks
/// follows LSEQ (B. Nédelec et al., "LSEQ: an adaptive structure for sequences in distributed collaborative editing",
/// DocEng 2013), and the unique end of each rank follows Logoot (S. Weiss et al., "Logoot", ICDCS 2009).
///
/// ```
/// place                tail
/// AzL8n0Y58m7 7T       1q4 3
/// ```
///
/// Digits are `0-9A-Za-z`, which ascend in ASCII. The place is between the places of both neighbours and is not a
/// prefix of either, so that any tail may follow. The tail is a number that is unique in a store (the sequence at which
/// the move begins), followed by its number of digits. So no two moves write the same rank.
///
/// Next to a neighbour that was just moved itself, the step is one, at the first digit that has room for more than
/// sixty. So moves to one position (the front, an index, before or after a row) use up one digit for every 62² − 62 =
/// 3,782 moves; at the end they use up none. Elsewhere a rank halves the remaining interval, which is optimal for moves
/// to random positions: one bit each time the same gap is hit. The worst case is rows that are moved between each
/// other, where every scheme with one write per move needs at least one bit for each: about three hundred in a row fill
/// a rank. When no rank is left, more rows get new ranks.
package enum FractionalRank {
  /// The longest rank that is written, in bytes.
  static let lengthMax = 63
  /// The longest rank that is read; a longer one counts as no rank.
  static let readLengthMax = 255
  /// The distance that two ranks must exceed at a digit before steps of one are made there.
  static let roomMin = 61
  /// The room that `spread` requires for each row.
  static let spreadRoom = 1000
  /// The maximum length of the ranks that `spread` makes.
  static let spreadLengthMax = 32

  private static let base = 62
  private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  /// The number of digits of an eight-byte number.
  private static let numberLength = 11

  /// The rank of a row that has none: derived from the sequence of the event that created it, 12 bytes. No move writes
  /// such a rank, because written ranks end in a digit of at most 11.
  static func derived(from created: UInt64) -> String {
    text(derivedDigits(created))
  }

  private static func derivedDigits(_ created: UInt64) -> [UInt8] {
    // In the middle of all numbers, so that there is room before the first row.
    var number = 1 << 63 | created & (1 << 63 - 1)
    var digits = [UInt8](repeating: 31, count: numberLength + 1)
    for index in (0..<numberLength).reversed() {
      digits[index] = UInt8(number % UInt64(base))
      number /= UInt64(base)
    }
    return digits
  }

  /// Whether a text is a valid rank.
  static func isRank(_ text: String) -> Bool {
    let bytes = text.utf8
    return (1...readLengthMax).contains(bytes.count) && bytes.allSatisfy { value(of: $0) != nil }
  }

  /// The neighbour to which a new rank is put close.
  package enum Nearness {
    case low, high, middle

    /// The maximum number of events since a neighbour's last change for it to count as just moved.
    static let recentCount: UInt64 = 64

    /// Decides from the sequences of the events that last changed the neighbours, nil at an end. If only one of them
    /// was just moved, row after row may be moving to this position; if both were, they may be moving between each
    /// other.
    package init(low: UInt64?, high: UInt64?, newest: UInt64) {
      guard let low else {
        self = .high
        return
      }
      guard let high else {
        self = .low
        return
      }
      let isOneRecent = max(low, high) + Self.recentCount > newest
      let areBothNewest = min(low, high) + 3 > newest
      self = !isOneRecent || areBothNewest ? .middle : low > high ? .low : .high
    }
  }

  /// A rank between two others, nil if none of at most `lengthMax` bytes is left.
  ///
  /// - Parameters:
  ///   - low: nil at the beginning.
  ///   - high: nil at the end.
  ///   - newest: the sequence of the newest event. At the end, the rank stays below the ranks of rows created later, so
  ///     that new rows come after moved ones.
  package static func between(_ low: String?, _ high: String?, near: Nearness, newest: UInt64) -> String? {
    let tail = tail(newest + 1)
    let low = low.map(values) ?? []
    let high = high.map(values) ?? bound(above: low, newest)
    let lengthMax = lengthMax - tail.count
    let stepped: [UInt8]? =
      switch near {
      case .middle: nil
      case .low: place(low, high, room: roomMin, lengthMax) { _ in 1 }
      case .high: place(low, high, room: roomMin, lengthMax) { $0 - 1 }
      }
    guard let place = stepped ?? place(low, high, room: 1, lengthMax, { $0 / 2 }) else { return nil }
    return text(place + tail)
  }

  /// Ranks for `count` rows between two others, ascending and far apart; nil if there is not enough room.
  package static func spread(_ count: Int, between low: String?, and high: String?, newest: UInt64)
    -> [String]?
  {
    let low = low.map(values) ?? []
    let high = high.map(values) ?? bound(above: low, newest)
    var ranks: [String] = []
    ranks.reserveCapacity(count)
    for index in 1...max(count, 1) {
      let tail = tail(newest + UInt64(index))
      let place = place(low, high, room: (count + 1) * spreadRoom, spreadLengthMax - tail.count) { gap in
        gap / (count + 1) * index
      }
      guard let place else { return nil }
      ranks.append(text(place + tail))
    }
    return ranks
  }

  /// The lowest rank of rows that will be created later, if it is above `low`.
  private static func bound(above low: [UInt8], _ newest: UInt64) -> [UInt8]? {
    let bound = derivedDigits(newest + 2)
    return low.lexicographicallyPrecedes(bound) ? bound : nil
  }

  /// The first digits at which the distance of two ranks is more than `room`, moved from the lower rank by the result
  /// of `offset` for that distance.
  private static func place(
    _ low: [UInt8], _ high: [UInt8]?, room: Int, _ lengthMax: Int, _ offset: (_ gap: Int) -> Int
  ) -> [UInt8]? {
    var gap = high == nil ? 1 : 0
    for depth in 0..<max(lengthMax, 0) {
      let below = depth < low.count ? Int(low[depth]) : 0
      let above = high.map { depth < $0.count ? Int($0[depth]) : 0 } ?? 0
      gap = gap * base + above - below
      if gap < 0 { return nil }
      if gap > room { return sum(low, offset(gap), length: depth + 1) }
    }
    return nil
  }

  /// The first digits of a rank, with a number added to the last of them.
  private static func sum(_ rank: [UInt8], _ addend: Int, length: Int) -> [UInt8] {
    var digits = Array(rank.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - rank.count))
    var carry = addend
    for index in digits.indices.reversed() where carry > 0 {
      carry += Int(digits[index])
      digits[index] = UInt8(carry % base)
      carry /= base
    }
    assert(carry == 0, "a rank between two others does not overflow its first digit")
    return digits
  }

  /// A number's digits, followed by their count.
  private static func tail(_ number: UInt64) -> [UInt8] {
    var digits: [UInt8] = []
    var rest = number
    repeat {
      digits.append(UInt8(rest % UInt64(base)))
      rest /= UInt64(base)
    } while rest > 0
    return digits.reversed() + [UInt8(digits.count)]
  }

  private static func values(_ rank: String) -> [UInt8] { rank.utf8.map { value(of: $0) ?? 0 } }

  private static func text(_ values: [UInt8]) -> String {
    String(decoding: values.map { digits[Int($0)] }, as: UTF8.self)
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 36
    default: nil
    }
  }
}
