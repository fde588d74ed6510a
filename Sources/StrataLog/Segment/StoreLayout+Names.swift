// The names of the files that Strata creates, which are the only ones that it removes.

extension StoreLayout {
  /// Whether a name in `log/` or `derived/` is that of an unfinished file, as FORMAT.md lists them.
  static func isTemporary(_ name: String) -> Bool {
    guard name.hasSuffix(temporarySuffix) else { return false }
    let parts = name.dropLast(temporarySuffix.count).utf8
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    switch parts.count {
    case 1: return isFinal(parts[0])
    case 2:
      return (isFinal(parts[0]) || [headName, replicaName].contains { parts[0].elementsEqual($0.utf8) })
        && isToken(parts[1])
    // A backup's whole copy of a segment: the name says what it is a copy of. The copies of older versions name no
    // mark.
    case 4, 5:
      return parts[0].count == 20 && isNumber(parts[0]) && isNumber(parts[1]) && isHexadecimal(parts[2])
        && isNumber(parts[3]) && parts.dropFirst(4).allSatisfy(isHexadecimal)
    default: return false
    }
  }

  /// Whether a name in `quarantine/` is that of a tail.
  static func isTail(_ name: String) -> Bool {
    guard name.hasSuffix(tailSuffix) else { return false }
    let parts = name.dropLast(tailSuffix.count).utf8
      .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.count == 3 && parts[0].count == 20 && parts.allSatisfy(isNumber)
  }

  /// The segment of a kept tail, and where it began in it; nil for other names.
  static func tail(named name: String) -> (segment: SegmentName, offset: UInt64)? {
    guard isTail(name) else { return nil }
    let parts = name.split(separator: "-")
    guard let first = UInt64(parts[0]), let offset = UInt64(parts[1]) else { return nil }
    return (SegmentName(first), offset)
  }

  /// Whether a name in the folder of a state is that of one of its files.
  static func isStateFile(_ name: String) -> Bool { name == stateFile || pageFileNumber(name) != nil }

  /// The number that the name of a page file says; nil for other names.
  package static func pageFileNumber(_ name: String) -> UInt32? { number(name, pagesSuffix) }

  /// The name of a page file.
  package static func pageFileName(_ number: UInt32) -> String { digits(number) + pagesSuffix }

  /// Whether a name in the folder of a history is that of one of its files.
  package static func isHistoryFile(_ name: String) -> Bool {
    if name == manifestFile || runFileNumber(name) != nil { return true }
    guard name.hasPrefix(manifestFile + "-"), name.hasSuffix(temporarySuffix) else { return false }
    return isToken(name.dropFirst(manifestFile.count + 1).dropLast(temporarySuffix.count).utf8)
  }

  /// Whether a name in the folder of a state or of a history is that of one of its files.
  static func isDerivedFile(_ name: String) -> Bool { isStateFile(name) || isHistoryFile(name) }

  /// The number that the name of a run's file says; nil for other names.
  package static func runFileNumber(_ name: String) -> UInt32? { number(name, runSuffix) }

  /// The name of a run's file.
  package static func runFileName(_ number: UInt32) -> String { digits(number) + runSuffix }

  private static func number(_ name: String, _ suffix: String) -> UInt32? {
    guard name.hasSuffix(suffix) else { return nil }
    let digits = name.dropLast(suffix.count).utf8
    return digits.count == 10 && isNumber(digits) ? UInt32(String(digits) ?? "") : nil
  }

  private static func digits(_ number: UInt32) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 10 - digits.count)) + digits
  }

  /// Whether this is a segment's name, or an index's.
  private static func isFinal(_ name: Substring.UTF8View) -> Bool {
    guard name.count == 24, isNumber(name.prefix(20)) else { return false }
    return name.suffix(4).elementsEqual(".seg".utf8) || name.suffix(4).elementsEqual(".idx".utf8)
  }

  /// The token of the name of an unfinished file: 16 hexadecimal digits.
  package static func token(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  private static func isToken(_ text: Substring.UTF8View) -> Bool { text.count == 16 && isHexadecimal(text) }

  private static func isNumber(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isHexadecimal(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
