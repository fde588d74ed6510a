// Characters and strings.

extension Gen where Value == Unicode.Scalar {
  /// Any scalar of Unicode, of ASCII in three of four cases. Letters are the simplest, `a` first.
  public static var scalar: Gen {
    Gen { (choices) throws(Rejection) in
      try choices.index(weights: [3, 1]) == 0
        ? .simplest(at: try choices.index(below: Unicode.Scalar.printableCount))
        : .simplest(at: try choices.integer(in: 0...Unicode.Scalar.placeMax))
    }
  }
}

extension Gen where Value == String {
  /// Strings of any characters, also of those that break things: no text, spaces, quotes, characters of several
  /// scalars, two spellings of one character, text from right to left, and control characters.
  ///
  /// - Parameter count: how many parts there are, most of which are one scalar.
  public static func string(count: ClosedRange<Int>? = nil) -> Gen {
    let part = Gen<String> { (choices) throws(Rejection) in
      // All three take two choices, so that none of them is simpler for being shorter.
      switch try choices.index(weights: [9, 3, 1]) {
      case 0: String(Unicode.Scalar.simplest(at: try choices.index(below: Unicode.Scalar.printableCount)))
      case 1: String(Unicode.Scalar.simplest(at: try choices.integer(in: 0...Unicode.Scalar.placeMax)))
      default: String.breakingParts[try choices.index(below: String.breakingParts.count)]
      }
    }
    return part.array(count: count).map { $0.joined() }
  }

  /// Strings of the characters of a text; the first one is the simplest.
  /// - Precondition: the text is not empty.
  public static func string(of characters: String, count: ClosedRange<Int>? = nil) -> Gen {
    Gen<Character>.element(of: Array(characters)).array(count: count).map { String($0) }
  }
}

extension String {
  /// Parts of text that programs get wrong.
  fileprivate static let breakingParts: [String] = [
    " ", "\n", "\t", "\"", "\\", "'", "/", "%", "\0", "\u{7F}", "é", "e\u{301}", "ß", "İ", "ﬁ", "Å",
    "\u{200B}",
    "\u{FEFF}", "\u{202E}", "👩‍👩‍👧‍👦", "🇩🇪", "א", "\u{FFFF}", "\u{10FFFF}", "\r\n",
  ]
}

extension Unicode.Scalar {
  /// All scalars, letters and digits of ASCII first, then the rest of what it prints, then the others by their number.
  fileprivate static let simplest: [UInt32] = {
    let first = Array(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".unicodeScalars.map(\.value))
    let known = Set(first)
    return first + (0x20...0x7E).filter { !known.contains($0) } + (0...0x1F) + [0x7F]
  }()

  /// How many of them are letters, digits and signs of ASCII.
  fileprivate static let printableCount = 95
  /// The last place: surrogates are no scalars.
  fileprivate static let placeMax = 0x10_F7FF

  fileprivate static func simplest(at place: Int) -> Unicode.Scalar {
    if place < simplest.count { return Unicode.Scalar(simplest[place]) ?? "a" }
    // Surrogates are no scalars.
    return Unicode.Scalar(UInt32(place < 0xD800 ? place : place + 0x800)) ?? "a"
  }
}
