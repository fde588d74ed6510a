// The name of a segment: its first sequence.

/// A segment's name. On disk it is a sequence, but it has its own type: few sequences begin a segment, and the one that
/// a HEAD names may be 0, which begins none.
package struct SegmentName: Hashable, Comparable, Sendable {
  package let firstSequence: UInt64

  package init(_ firstSequence: UInt64) { self.firstSequence = firstSequence }

  /// The last sequence before the segment, which is the end of an empty range of its sequences.
  package var lastBefore: UInt64 { max(firstSequence, 1) - 1 }

  package static func < (left: SegmentName, right: SegmentName) -> Bool {
    left.firstSequence < right.firstSequence
  }
}

extension SegmentName: ExpressibleByIntegerLiteral, CustomStringConvertible {
  package init(integerLiteral value: UInt64) { self.init(value) }

  package var description: String { String(firstSequence) }
}

extension SegmentName {
  /// The digits that the names of all files of the segment begin with.
  package var digits: String {
    let digits = String(firstSequence)
    return String(repeating: "0", count: max(0, FormatLimits.segmentNameDigits - digits.count)) + digits
  }

  /// The name of the file, without its folder.
  package var fileName: String { digits + ".seg" }

  /// The segment of a file with this name, or nil if the file is not a segment.
  package init?(fileName: String) {
    guard fileName.hasSuffix(".seg"), fileName.utf8.count == FormatLimits.segmentNameDigits + 4 else {
      return nil
    }
    self.init(digits: fileName.dropLast(4))
  }

  /// The name whose digits these are: exactly 20, of a number from 1.
  package init?(digits: some StringProtocol) {
    guard digits.utf8.count == FormatLimits.segmentNameDigits,
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let first = UInt64(digits), first > 0
    else { return nil }
    self.init(first)
  }
}
