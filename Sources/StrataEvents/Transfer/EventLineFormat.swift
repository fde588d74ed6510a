// The names and limits of event lines, the form in which events leave a store and come into one.

internal import StrataLog

/// The form that the page "Event lines" describes.
package enum EventLineFormat {
  /// The newest version, which is written; older ones are read.
  package static let version: UInt64 = 1
  /// What the first line of an export begins with.
  package static let opening = #"{"strata":"events","#
  /// What the last line of an export begins with.
  package static let closing = #"{"strata":"end","#

  /// The most bytes of a line: those of the longest event, of which text takes at most twice as many as the payload.
  package static let lineLengthMax = 2 * FormatLimits.rawLengthMax + (1 << 20)
  /// A text that is longer than this, and more than twice as long as its bytes, is written in base 64.
  static let spaciousLengthMax = 16 << 20
  /// The most bytes of the first and the last line of an export.
  static let frameLengthMax = 1 << 20
  /// The most bytes of events that may wait for a chain: those of the longest block, twice.
  static let uncheckedLengthMax = 2 * FormatLimits.rawLengthMax

  /// Whether bytes begin as the first line of an export does.
  package static func isExport(_ beginning: UnsafeRawBufferPointer) -> Bool {
    beginning.starts(with: opening.utf8)
  }
}
