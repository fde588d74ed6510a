// Classes and escapes of a pattern.

extension PatternParser {
  enum Escape {
    case set(ScalarSet)
    case assertion(PatternTree.Assertion)
  }

  /// Reads a class, of which the bracket was read.
  mutating func readClass(from start: Int) throws(PatternError) -> ScalarSet {
    let isNegated = skip("^")
    var ranges: [ClosedRange<UInt32>] = []
    var isFirst = true
    while let scalar = next {
      let member = index
      if skip("]") {
        guard !isFirst else {
          throw error("this class is empty", "write \\] for a bracket itself", from: start)
        }
        return ScalarSet(ranges, isNegated: isNegated)
      }
      // A hyphen after a range is meant itself only at the end.
      if scalar == "-", !isFirst, member + 1 < scalars.count, scalars[member + 1] != "]" {
        index += 1
        throw error("this hyphen ends no range", "write \\- for a hyphen itself", from: member)
      }
      isFirst = false
      let first = try readMember(from: member)
      guard next == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
        ranges += first.members
        continue
      }
      index += 1
      let second = try readMember(from: index)
      guard let low = first.only, let high = second.only, low <= high else {
        throw error(
          "this is no range", "write the lower end first, as in a-z, or \\- for a hyphen itself", from: member
        )
      }
      ranges.append(low...high)
    }
    throw error("this class is never closed", "write ] after it, or \\[ for itself", from: start)
  }

  private mutating func readMember(from start: Int) throws(PatternError) -> ScalarSet {
    guard let scalar = next else { return ScalarSet([]) }
    index += 1
    switch scalar {
    case "\\":
      guard case .set(let set) = try readEscape(from: start, isInClass: true) else { return ScalarSet([]) }
      return set
    case "[":
      throw error(
        "a class inside a class is not taken", "write \\[ for a bracket itself, and its members in one class",
        from: start)
    case "&", "~", "-":
      if next == scalar {
        index += 1
        throw error(
          "\(scalar)\(scalar) between classes is not taken", "write \\ before each that is meant itself",
          from: start)
      }
      fallthrough
    default: return ScalarSet(scalar.value)
    }
  }

  /// Reads what follows a backslash.
  mutating func readEscape(from start: Int, isInClass: Bool) throws(PatternError) -> Escape {
    guard let scalar = next else {
      throw error("nothing follows this backslash", "write \\\\ for a backslash itself", from: start)
    }
    index += 1
    switch scalar {
    case "d": return .set(.digit)
    case "D": return .set(ScalarSet.digit.negated)
    case "w": return .set(.word)
    case "W": return .set(ScalarSet.word.negated)
    case "s": return .set(.space)
    case "S": return .set(ScalarSet.space.negated)
    case "n": return .set(ScalarSet(0x0A))
    case "r": return .set(ScalarSet(0x0D))
    case "t": return .set(ScalarSet(0x09))
    case "f": return .set(ScalarSet(0x0C))
    case "b" where !isInClass: return .assertion(.wordBoundary)
    case "B" where !isInClass: return .assertion(.noWordBoundary)
    case "x", "u": return .set(ScalarSet(try readNumber(scalar, from: start)))
    case "0"..."9", "k", "g":
      throw error("back references are not taken", "write out what is repeated", from: start)
    case "p", "P":
      throw error(
        "properties of characters are not taken", "write a class, as in [a-zà-ÿ], \\w or \\d", from: start)
    case "X", "R", "N", "h", "H", "v", "V", "y", "Y", "Q", "E", "A", "Z", "z", "G", "K", "O":
      throw error("\\\(scalar) is not taken", "write a class, ^ or $ instead", from: start)
    case "a"..."z", "A"..."Z":
      throw error(
        "\\\(scalar) means nothing", "write \(scalar) for the letter itself, and \\\\ for a backslash",
        from: start)
    default: return .set(ScalarSet(scalar.value))
    }
  }

  /// Reads the number of a scalar: `\x41`, `\u0041`, or one to six digits in braces.
  private mutating func readNumber(_ letter: Unicode.Scalar, from start: Int) throws(PatternError) -> UInt32 {
    let isBraced = skip("{")
    let countMax = isBraced ? 6 : letter == "x" ? 2 : 4
    var (value, count): (UInt32, Int) = (0, 0)
    while count < countMax, let digit = next?.hexadecimalValue {
      value = value << 4 | digit
      index += 1
      count += 1
    }
    let isWhole = isBraced ? count > 0 && skip("}") : count == countMax
    guard isWhole, Unicode.Scalar(value) != nil else {
      throw error("this is no character", "write it as \\u{e9}, with its number in hexadecimal", from: start)
    }
    return value
  }
}

extension Unicode.Scalar {
  fileprivate var hexadecimalValue: UInt32? {
    switch self {
    case "0"..."9": value - 0x30
    case "a"..."f": value - 0x57
    case "A"..."F": value - 0x37
    default: nil
    }
  }
}
