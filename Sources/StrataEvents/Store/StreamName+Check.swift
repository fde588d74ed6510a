// Checks the length of a stream's name against the format's limit.

package import StrataLog

extension StreamName {
  /// Throws `invalid` if the name is empty or longer than the format allows.
  package func check() throws(StoreError) {
    guard (1...FormatLimits.streamLengthMax).contains(text.utf8.count) else {
      throw .outsideFormat(
        what: "the stream's name", actual: text.utf8.count, limit: FormatLimits.streamLengthMax)
    }
  }
}
