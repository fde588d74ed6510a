// Filters as canonical text, which parses back to an equal filter.

internal import StrataDocuments
internal import StrataTables

extension FilterExpression: CustomStringConvertible {
  package var description: String {
    switch self {
    case .comparison(let comparison): comparison.description
    case .not(let expression): "!(\(expression))"
    case .and(let expressions):
      expressions.map { if case .or = $0 { "(\($0))" } else { $0.description } }.joined(separator: " && ")
    case .or(let expressions): expressions.map(\.description).joined(separator: " || ")
    }
  }
}

extension FilterComparison: CustomStringConvertible {
  package var description: String {
    "\(left) \(comparator.rawValue)\(ignoresCase ? "[c]" : "") \(right)"
  }
}

extension FilterOperand: CustomStringConvertible {
  package var description: String {
    switch self {
    case .field(let path):
      // A name that is a keyword of the language is written in backquotes.
      if path.names.count == 1, FilterKeyword(path.names[0]) != nil {
        FieldPath.quoted(path.names[0], always: true)
      } else {
        path.description
      }
    case .value(let value): Self.text(of: value)
    case .date(let instant): "@'\(Self.text(of: instant))'"
    case .set(let set): set.description
    case .list(let elements): "{\(elements.map(\.description).joined(separator: ", "))}"
    }
  }

  private static func text(of value: DocumentValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .bigInt(let value): value.description
    case .double(let value): "\(value)"
    case .string(let value): quoted(value)
    default: "null"  // literals have no other values
    }
  }

  /// The instant in UTC, with as many digits as needed.
  private static func text(of instant: Instant) -> String {
    guard var text = RFC3339.text(instant) else { return "" }
    text.removeLast()
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text + "Z"
  }

  private static func quoted(_ value: String) -> String {
    var text = "'"
    for scalar in value.unicodeScalars {
      switch scalar {
      case "'", "\\":
        text += "\\"
        text.unicodeScalars.append(scalar)
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default:
        if scalar.properties.generalCategory == .control {
          text += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text + "'"
  }
}
