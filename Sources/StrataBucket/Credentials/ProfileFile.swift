// The files of profiles that Amazon's tools keep in ~/.aws.

/// The values of one profile in a file of lines `name = value` under lines `[profile]`.
///
/// A line that begins with `#` or `;` is a comment. One that begins with a space belongs to the value before it, which is
/// of no use here, and is skipped.
struct ProfileFile {
  /// By names in lower case.
  let values: [String: String]

  /// - Parameters:
  ///   - text: the whole file. What is not UTF-8 in it is replaced.
  ///   - titles: what the profile is called there: `[default]`, or `[profile NAME]` in a file of settings.
  init(_ text: [UInt8], titles: Set<String>) {
    var values: [String: String] = [:]
    var isInside = false
    let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    for line in lines {
      guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";"), first > 0x20
      else { continue }
      let text = Self.trimmed(line)
      if first == UInt8(ascii: "[") {
        let title = text.dropFirst().prefix { $0 != "]" }
        isInside = titles.contains(
          title.split { $0 == " " || $0 == "\t" }.joined(separator: " "))
      } else if isInside, let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        values[Self.trimmed(line[..<equals]).lowercased()] = Self.trimmed(line[line.index(after: equals)...])
      }
    }
    self.values = values
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    let start = bytes.drop { $0 == 0x20 || $0 == 0x09 }
    let end = start.lastIndex { $0 != 0x20 && $0 != 0x09 }
    return String(decoding: end.map { start[...$0] } ?? [], as: UTF8.self)
  }
}
