// A text as a key: equal to another one only if the bytes of both are the same.

/// Texts that look the same, as the two ways to write é, are one key of a dictionary, but two ids and two types here.
struct ProcessText: Hashable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
