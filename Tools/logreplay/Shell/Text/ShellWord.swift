// Words as a shell reads them, for commands that messages name.

/// An argument of a command in a message.
package enum ShellWord {
  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,")

  /// The text as one word: in quotes if a shell would read it as something else.
  package static func of(_ text: String) -> String {
    guard text.isEmpty || !text.allSatisfy(plain.contains) else { return text }
    return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
