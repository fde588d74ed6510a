// Ranks between ranks: texts that sort by their bytes, with room for another one between any two.

/// Fractional indexing (D. Greenspan, "Implementing Fractional Indexing", 2020): a rank is the digits of a
/// fraction behind its point, so that one moved row gets one new rank and all others keep theirs. How far apart
/// ranks are put follows LSEQ (B. Nédelec et al., "LSEQ: an adaptive structure for sequences in distributed
/// collaborative editing", DocEng 2013), and that each ends in what makes it unique follows Logoot (S. Weiss et
/// al., "Logoot", ICDCS 2009).
///
/// ```
/// place                tail
/// AzL8n0Y58m7 7T       1q4 3
/// ```
///
/// Digits are `0-9A-Za-z`, which ascend in ASCII. The place stands between the places of both neighbours and is
/// the beginning of neither, so that any tail may follow. The tail is a number that occurs once in a store (the
/// sequence at which the move begins), and how many digits it has. So no two moves write the same rank.
///
/// Next to a neighbour that was just moved itself there is a step of one, at the first digit that has room for
/// more than sixty. So moves to one place (the front, an index, before or behind a row) use up a digit for each
/// 62² − 62 = 3,782 of them; at the end they use up none. Elsewhere a rank halves what is left, which is the
/// least for moves to places of chance: a bit for each time that the same gap is hit. The worst are rows that
/// are moved between each other, where no scheme with one write for a move needs less than a bit for each: about
/// three hundred in a row fill a rank. What does not fit is put right by ranks for more rows.
package enum FractionalRank {
  /// The longest rank that is written, in bytes.
  static let lengthMax = 63
  /// The longest rank that is read; what is longer counts as none.
  static let readLengthMax = 255
  /// How much room a digit has to have before steps are made at it.
  static let roomMin = 61
  /// How much room many rows get for each of them.
  static let spreadRoom = 1000
  /// The longest of the ranks that many rows are given at once.
  static let spreadLengthMax = 32

  private static let base = 62
  private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  /// How many digits an eight-byte number has.
  private static let numberLength = 11

  /// The rank of a row that has none: by the sequence of the event that made it, 12 bytes. It is none that a
  /// move writes, since those end in a number up to 11.
  static func derived(from created: UInt64) -> String {
    text(derivedDigits(created))
  }

  private static func derivedDigits(_ created: UInt64) -> [UInt8] {
    // In the middle of all numbers, so that there is room before the first.
    var number = 1 << 63 | created & (1 << 63 - 1)
    var digits = [UInt8](repeating: 31, count: numberLength + 1)
    for index in (0..<numberLength).reversed() {
      digits[index] = UInt8(number % UInt64(base))
      number /= UInt64(base)
    }
    return digits
  }

  /// Whether a text is a rank.
  static func isRank(_ text: String) -> Bool {
    let bytes = text.utf8
    return (1...readLengthMax).contains(bytes.count) && bytes.allSatisfy { value(of: $0) != nil }
  }

  /// Which neighbour a new rank is put next to.
  package enum Nearness {
    case low, high, middle

    /// How many events ago a neighbour was moved at most that is stepped from.
    static let recentCount: UInt64 = 64

    /// By the sequences of the events that last changed the neighbours, nil at an end. Where only one of them
    /// was just moved, somebody may be moving row after row to this place; where both were, they may be moved
    /// between each other.
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

  /// A rank between two others, nil where none of at most `lengthMax` bytes is left.
  ///
  /// - Parameters:
  ///   - low: nil at the beginning.
  ///   - high: nil at the end.
  ///   - newest: the sequence up to which rows have been made: at the end, the rank stays below those that rows
  ///     get which are made later, so that new rows stand behind moved ones.
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

  /// Ranks for so many rows between two others, ascending and far apart; nil where there is no room for that.
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

  /// The ranks of rows that are not made yet, where they are above.
  private static func bound(above low: [UInt8], _ newest: UInt64) -> [UInt8]? {
    let bound = derivedDigits(newest + 2)
    return low.lexicographicallyPrecedes(bound) ? bound : nil
  }

  /// The first digits at which the distance of two ranks is more than `room`, moved from the lower one by what
  /// `offset` makes of that distance.
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

  /// The first digits of a rank, and a number added to the last of them.
  private static func sum(_ rank: [UInt8], _ addend: Int, length: Int) -> [UInt8] {
    var digits = Array(rank.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - rank.count))
    var carry = addend
    for index in digits.indices.reversed() where carry > 0 {
      carry += Int(digits[index])
      digits[index] = UInt8(carry % base)
      carry /= base
    }
    assert(carry == 0, "a rank between two others is above all ranks")
    return digits
  }

  /// A number's digits, and how many they are.
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
