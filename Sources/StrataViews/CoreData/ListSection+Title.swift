// What stands above a section of a list.

public import StrataFetch

extension ListSection {
  /// The section as text: the string itself, the empty one for nil, and how it describes itself otherwise.
  public var title: String { Self.text(of: id) }

  /// The first character of the title, as capitals; nil where the title is empty.
  public var indexTitle: String? { title.first.map { $0.uppercased() } }

  private static func text(of value: Any) -> String {
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
