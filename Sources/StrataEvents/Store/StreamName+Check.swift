// The names that the format has room for.

package import StrataLog

extension StreamName {
  /// Throws where the name is empty or longer than the format allows.
  package func check() throws(StoreError) {
    guard (1...FormatLimits.streamLengthMax).contains(text.utf8.count) else {
      throw .tooLarge(
        what: "the stream's name", actual: text.utf8.count, limit: FormatLimits.streamLengthMax)
    }
  }
}
