// Values, sections and counts as text for people.

package import StrataDocuments
internal import StrataEvents

extension PeopleText {
  /// A value as text in a column: strings as they are, other values as JSON.
  package static func cell(_ value: DocumentValue) -> String {
    if case .string(let text) = value { return printable(text) }
    return printable(value.json())
  }

  /// A section's value as a heading. A string is quoted if it is empty or could be read as another value.
  package static func heading(_ value: DocumentValue) -> String {
    if case .string(let text) = value, text.isEmpty || isJSON(text) { return printable(value.json()) }
    return cell(value)
  }

  /// A value among others on one line. A string is quoted if it is empty, could be read as another value, or contains a
  /// control character or a character that separates values.
  package static func word(_ value: DocumentValue) -> String {
    guard case .string(let text) = value else { return printable(value.json()) }
    let isPlain =
      !text.isEmpty && !isJSON(text)
      && text.unicodeScalars.allSatisfy { !" \"=,→".unicodeScalars.contains($0) && !$0.isControl }
    return isPlain ? text : printable(value.json())
  }

  /// Whether a text is the JSON of some value: that of a number, null, a list.
  private static func isJSON(_ text: String) -> Bool {
    guard let first = text.utf8.first, "-0123456789tfn[{\"".utf8.contains(first) else { return false }
    return (try? DocumentValue(json: text)) != nil
  }

  /// `1,312`.
  package static func count(_ number: Int) -> String {
    var digits = String(number.magnitude)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }

  /// `57`, or `20 of 1,312 shown`.
  package static func count(_ count: Int, shown: Int) -> String {
    shown < count ? "\(self.count(shown)) of \(self.count(count)) shown" : self.count(count)
  }

  /// `1 item`, `2 items`.
  package static func count(_ number: Int, _ noun: String) -> String {
    "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
  }

  package static func padding(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count))
  }
}
