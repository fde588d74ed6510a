// What makes two predicates the same condition.

internal import StrataBase

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A predicate's expression: its type, which says how it is built, and its leaves, which the type does not say.
///
/// `Predicate` is not comparable, and its description does not show everything that it captures. But it is a tree of
/// `PredicateExpressions`, whose generic type names the type of every node. The rest are the nodes' stored values: key
/// paths, operators, variables, literals and captured values.
struct PredicateIdentity: Hashable, Sendable {
  private enum Leaf: Hashable, Sendable {
    /// A variable, numbered in the order of first occurrence; each predicate has new ones.
    case variable(Int)
    case keyPath(PredicateKeyPath)
    /// An operator, a literal or a captured value, as CBOR.
    case value([UInt8])
  }

  private let shape: ObjectIdentifier
  /// The type of the expression as text.
  private let shapeName: String
  private var leaves: [Leaf] = []

  /// Nil if a part of the predicate is not comparable. O(size of the expression and of the captured values).
  init?<Item>(_ predicate: Predicate<Item>) {
    shape = ObjectIdentifier(type(of: predicate.expression))
    shapeName = ProgramImage.name(of: type(of: predicate.expression))
    let input: PredicateExpressions.Variable<Item> = predicate.variable
    var variables = [input.key]
    guard gather(predicate.expression, &variables) else { return nil }
  }

  /// The expression as text, the same in every process; nil if it reads a computed property.
  var text: String? {
    var text = shapeName
    for leaf in leaves {
      switch leaf {
      case .variable(let number): text += " $\(number)"
      case .keyPath(let path):
        guard let name = path.keyPath.storedName else { return nil }
        text += " \(name)"
      case .value(let bytes): text += " " + bytes.map { String($0, radix: 16) }.joined(separator: ".")
      }
    }
    return text
  }

  /// Adds the leaves of a node; false if one of them is not comparable. The recursion is as deep as the predicate is
  /// written in the program.
  private mutating func gather(
    _ node: any PredicateExpression, _ variables: inout [PredicateExpressions.VariableID]
  ) -> Bool {
    if let value = (node as? any CapturedValue)?.encodableValue { return append(value) }
    let parts = Mirror(reflecting: node).children
    // Every node but null has parts: one that shows none hides them.
    if parts.isEmpty { return node is any NullExpression }
    for part in parts {
      switch part.value {
      case let node as any PredicateExpression:
        guard gather(node, &variables) else { return false }
      case let variable as PredicateExpressions.VariableID:
        let number = variables.firstIndex(of: variable) ?? variables.count
        if number == variables.count { variables.append(variable) }
        leaves.append(.variable(number))
      case let keyPath as AnyKeyPath: leaves.append(.keyPath(PredicateKeyPath(keyPath: keyPath)))
      case let value as any Encodable:
        guard append(value) else { return false }
      default: return false
      }
    }
    return true
  }

  private mutating func append(_ value: any Encodable) -> Bool {
    guard let bytes = StableBytes.encoded(value) else { return false }
    leaves.append(.value(bytes))
    return true
  }
}

/// A key path of a predicate. Predicates are `Sendable`, and so are their key paths.
private struct PredicateKeyPath: Hashable, Sendable {
  nonisolated(unsafe) let keyPath: AnyKeyPath
}

/// A literal or a captured value that can be encoded. Its type is static, so nil is a value too.
private protocol CapturedValue {
  var encodableValue: any Encodable { get }
}

extension PredicateExpressions.Value: CapturedValue where Output: Encodable {
  fileprivate var encodableValue: any Encodable { value }
}

/// The null of a predicate, of any type.
private protocol NullExpression {}
extension PredicateExpressions.NilLiteral: NullExpression {}
