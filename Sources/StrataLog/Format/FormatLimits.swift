// The constants of format 1.0 that more than one structure uses.

/// The limits that FORMAT.md sets for every store.
package enum FormatLimits {
  package static let major: UInt16 = 1
  package static let minor: UInt16 = 0
  /// Every block begins and ends at a multiple of this.
  package static let alignment = 8
  /// The largest decoded payload of a block.
  package static let rawLengthMax = 64 << 20
  package static let appendIDLengthMax = 64
  package static let streamLengthMax = 1024
  package static let typeLengthMax = 255
  package static let saltLength = 16
  /// A commit time that means "none".
  package static let noTime = Int64.min
  /// The number of digits in a segment's name.
  package static let segmentNameDigits = 20

  /// `length` rounded up to the alignment of blocks.
  package static func aligned(_ length: Int) -> Int { (length + 7) & ~7 }
}
