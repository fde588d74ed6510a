// Folding of case: letters that differ in case alone become the same bytes.

/// Unicode's full case folding (C and F of CaseFolding.txt) by a table of one version, so that keys that ignore case
/// are the same with every toolchain: ẞ, ß and ss are one, and so are σ, ς and Σ.
package enum CaseFolding {
  /// The version of Unicode of the table. Letters of later versions are compared as written.
  package static let unicodeVersion = UnicodeTable.version

  /// What a scalar folds to: up to three scalars of 21 bits each, the first of them lowest.
  package struct Folded: Hashable, Sendable {
    private let packed: UInt64

    fileprivate init(_ first: UInt32, _ second: UInt32 = 0, _ third: UInt32 = 0) {
      packed = UInt64(first) | UInt64(second) << 21 | UInt64(third) << 42
    }

    /// The scalar, if it is one.
    var only: UInt32? { packed < 1 << 21 ? UInt32(packed) : nil }

    /// Calls the body with each scalar in turn.
    @inline(__always)
    package func forEach(_ body: (UInt32) -> Void) {
      var rest = packed
      repeat {
        body(UInt32(truncatingIfNeeded: rest & 0x1F_FFFF))
        rest >>= 21
      } while rest != 0
    }
  }

  /// What a scalar folds to: itself, if it is no letter of the table. O(log table) beyond ASCII.
  package static func folded(_ scalar: UInt32) -> Folded {
    if scalar < 0x80 { return Folded(scalar &- 0x41 < 26 ? scalar | 0x20 : scalar) }
    let runs = UnicodeTable.caseRuns
    if let row = row(scalar, runs), scalar <= runs[row + 1] {
      let distance = scalar &- runs[row]
      if distance % runs[row + 2] == 0 { return Folded(runs[row + 3] &+ distance) }
    }
    let expansions = UnicodeTable.caseExpansions
    if let row = row(scalar, expansions), expansions[row] == scalar {
      return Folded(expansions[row + 1], expansions[row + 2], expansions[row + 3])
    }
    return Folded(scalar)
  }

  /// Where the last of a table's rows of four begins that is not of a later scalar.
  private static func row(_ scalar: UInt32, _ table: [UInt32]) -> Int? {
    var (low, high) = (0, table.count / 4)
    while low < high {
      let middle = (low + high) / 2
      if table[4 * middle] <= scalar { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : 4 * (low - 1)
  }
}

extension CaseFolding {
  /// Appends the folded form of UTF-8. Bytes that are not UTF-8 become U+FFFD. O(bytes · log table).
  package static func append(_ utf8: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var index = 0
    while index < utf8.count {
      let byte = utf8[index]
      if byte < 0x80 {
        bytes.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
        index &+= 1
      } else {
        folded(UTF8Scalars.next(utf8, &index)).forEach { UTF8Scalars.append($0, to: &bytes) }
      }
    }
  }

  /// The folded form of UTF-8.
  package static func folded(_ utf8: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    append(utf8, to: &bytes)
    return bytes
  }

  /// The folded form of a text.
  package static func folded(_ text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { folded(UnsafeRawBufferPointer($0)) }
  }
}

extension CaseFolding {
  /// The scalars that fold to the same as a scalar, itself among them: k, K and the Kelvin sign.
  package static func alike(_ scalar: UInt32) -> [UInt32] { families[folded(scalar)] ?? [scalar] }

  /// All sets of scalars that fold to the same, of two or more.
  package static let families: [Folded: [UInt32]] = {
    var families: [Folded: [UInt32]] = [:]
    func add(_ scalar: UInt32) { families[folded(scalar), default: []].append(scalar) }
    for scalar in 0x41...0x5A as ClosedRange<UInt32> { add(scalar) }
    let runs = UnicodeTable.caseRuns
    for row in stride(from: 0, to: runs.count, by: 4) {
      for scalar in stride(from: runs[row], through: runs[row + 1], by: Int(runs[row + 2])) { add(scalar) }
    }
    let expansions = UnicodeTable.caseExpansions
    for row in stride(from: 0, to: expansions.count, by: 4) { add(expansions[row]) }
    for folded in families.keys { if let scalar = folded.only { families[folded]?.append(scalar) } }
    return families.filter { $0.value.count > 1 }
  }()
}
