// The names of an event's forms: a type, and a version from 2 on.

/// A form's name taken apart: `opened.3` is version 3 of `opened`, and any other name is version 1 of itself.
struct FormName {
  var base: String
  var version: Int

  init(_ name: String) {
    (base, version) = (name, 1)
    // Most names have no version, and need no more than this.
    guard let last = name.utf8.last, Self.isDigit(last),
      let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex
    else { return }
    let digits = name[dot...].dropFirst()
    guard digits.utf8.allSatisfy(Self.isDigit), digits.utf8.first != UInt8(ascii: "0"),
      let version = Int(digits), version > 1
    else { return }
    (base, self.version) = (String(name[..<dot]), version)
  }

  /// The whole name.
  var text: String { version > 1 ? "\(base).\(version)" : base }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
