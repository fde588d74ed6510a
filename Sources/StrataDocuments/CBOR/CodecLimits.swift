// The limits of the codecs, each with a name.

/// The limits of the codecs, so that no input can exhaust the reader's stack or time.
package enum CodecLimits {
  /// The maximum nesting depth of arrays, objects and tags. An array of integers has depth 1.
  package static let depthMax = 128

  /// The maximum length of an integer's magnitude, in bytes (about 9,860 decimal digits). The time of decimal
  /// conversion is quadratic in the length.
  package static let integerByteCountMax = 4096

  /// The maximum number of decimal digits of an integer of `integerByteCountMax` bytes.
  static let integerDigitCountMax = 9865

  /// The largest number of keys that a lookup searches one after another; beyond it, lookups use binary search.
  static let linearSearchCountMax = 12

  /// The largest number of elements for which insertion sort is used.
  static let insertionSortCountMax = 24
}
