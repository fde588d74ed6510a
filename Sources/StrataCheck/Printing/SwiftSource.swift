// Values as source text in Swift.

/// A type that says itself how it is written in Swift.
public protocol SwiftSourceConvertible {
  /// An expression that makes an equal value.
  var swiftSource: String { get }
}

/// Returns an expression in Swift that makes a value, as well as reflection can say it: literals, lists, dictionaries,
/// optional values, cases of enums, and memberwise initialisers. O(size).
public func swiftSource(of value: Any) -> String {
  if let value = value as? any SwiftSourceConvertible { return value.swiftSource }
  switch value {
  case let text as String: return quoted(text)
  case let character as Character: return quoted(String(character))
  case let number as Double: return source(ofNumber: number)
  case let number as any FixedWidthInteger: return "\(number)"
  case let truth as Bool: return "\(truth)"
  default: break
  }
  let mirror = Mirror(reflecting: value)
  let children = Array(mirror.children)
  func list(_ elements: [Mirror.Child]) -> String {
    elements.map { child in
      let source = swiftSource(of: child.value)
      guard let label = child.label, !label.hasPrefix(".") else { return source }
      return "\(label): \(source)"
    }.joined(separator: ", ")
  }
  switch mirror.displayStyle {
  case .optional: return children.first.map { swiftSource(of: $0.value) } ?? "nil"
  case .collection, .set: return "[\(children.map { swiftSource(of: $0.value) }.joined(separator: ", "))]"
  case .dictionary:
    let pairs = children.map { child in
      Mirror(reflecting: child.value).children.map { swiftSource(of: $0.value) }.joined(separator: ": ")
    }
    return pairs.isEmpty ? "[:]" : "[\(pairs.sorted().joined(separator: ", "))]"
  case .tuple: return "(\(list(children)))"
  case .enum:
    guard let child = children.first, let name = child.label else { return ".\(value)" }
    let payload = Mirror(reflecting: child.value)
    let isTuple = payload.displayStyle == .tuple
    return ".\(name)(\(isTuple ? list(Array(payload.children)) : swiftSource(of: child.value)))"
  case .struct, .class:
    if children.isEmpty, mirror.subjectType != Void.self { return "\(mirror.subjectType)()" }
    return "\(mirror.subjectType)(\(list(children)))"
  default: return "\(value)"
  }
}

private func source(ofNumber number: Double) -> String {
  if number.isNaN { return ".nan" }
  if number.isInfinite { return number < 0 ? "-.infinity" : ".infinity" }
  return "\(number)"
}

/// A literal that reads back as the same scalars, whatever they are. What cannot be seen is escaped.
private func quoted(_ text: String) -> String {
  var result = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\r": result += "\\r"
    case "\t": result += "\\t"
    case " "..."~": result.unicodeScalars.append(scalar)
    case _ where scalar.properties.isAlphabetic: result.unicodeScalars.append(scalar)
    default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
  }
  return result + "\""
}
