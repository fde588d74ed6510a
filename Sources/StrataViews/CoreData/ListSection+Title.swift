// The titles of a list's sections.

public import StrataFetch
internal import StrataLists

extension ListSection {
  /// The section as text: a string as it is, an empty string for nil and in a list without sections, and the description
  /// of any other value.
  public var title: String { Self.text(of: id) }

  /// The first character of the title in upper case; nil if the title is empty.
  public var indexTitle: String? { title.first.map { $0.uppercased() } }

  private static func text(of value: Any) -> String {
    if value is Unsectioned { return "" }
    if let optional = value as? any Flattenable { return optional.flattened.map { text(of: $0) } ?? "" }
    return String(describing: value)
  }
}

private protocol Flattenable {
  var flattened: Any? { get }
}

extension Optional: Flattenable {
  fileprivate var flattened: Any? { map { $0 } }
}
