// The limits of every codec in this folder, each with its name.

/// What the codecs refuse, so that no input can exhaust the stack or the time of the one who reads it.
public enum CodecLimits {
  /// How many arrays, objects and tags may stand inside each other. An array of integers has depth 1.
  public static let depthMax = 128

  /// The longest magnitude of an integer, in bytes (about 9,860 decimal digits). Decimal conversion is
  /// quadratic in it.
  public static let integerByteCountMax = 4096

  /// The most decimal digits that an integer of `integerByteCountMax` bytes can have.
  static let integerDigitCountMax = 9865

  /// Where keyed lookup stops comparing one key after another and searches by halves.
  static let linearSearchCountMax = 12

  /// Where sorting by insertion stops paying.
  static let insertionSortCountMax = 24
}
