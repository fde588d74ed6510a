// A value in a filter's template.

internal import StrataDocuments

/// One literal of a filter, made of a value of the program. ``FilterLiteral/filterArgument`` returns it.
public struct FilterArgument: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case operand(FilterOperand)
    /// A value that no literal expresses: its text in the error, what is wrong, and what to write instead.
    case malformed(text: String, message: String, suggestion: String)
  }

  let content: Content

  private init(content: Content) { self.content = content }

  init(_ operand: FilterOperand) { content = .operand(operand) }

  /// A list; malformed if one of its elements is.
  init(list arguments: [FilterArgument]) {
    guard arguments.count <= FilterSet.countMax else {
      self = .malformed(
        "\\([…])",
        "a list of \(arguments.count) values is interpolated, and at most \(FilterSet.countMax) are taken",
        "select by a field that the rows share, or by a closure")
      return
    }
    var operands: [FilterOperand] = []
    for argument in arguments {
      switch argument.content {
      case .operand(let operand): operands.append(operand)
      case .malformed(_, let message, let suggestion):
        let text = "{\(arguments.map(\.text).joined(separator: ", "))}"
        self = .malformed(text, message, suggestion)
        return
      }
    }
    content = .operand(.list(operands))
  }

  static func malformed(_ text: String, _ message: String, _ suggestion: String) -> FilterArgument {
    FilterArgument(content: .malformed(text: text, message: message, suggestion: suggestion))
  }

  static let null = FilterArgument(.value(.null))

  /// The same value without a text of its own, if it is a list.
  var withoutText: FilterArgument {
    guard case .operand(.list(let operands)) = content, !operands.isEmpty else { return self }
    return FilterArgument(.set(FilterSet(operands)))
  }

  /// The literal as it is written in a filter.
  var text: String {
    switch content {
    case .operand(let operand): operand.description
    case .malformed(let text, _, _): text
    }
  }
}
