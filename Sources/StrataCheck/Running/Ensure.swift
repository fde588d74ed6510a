// What a property says of a case.

/// A condition that did not hold.
public struct Unfulfilled: Error, CustomStringConvertible, Sendable {
  public let description: String
  /// Where the condition is. Two failures at different places are different failures, and one does not shrink to the
  /// other.
  public let fileID: String
  public let line: Int
}

/// Throws ``Unfulfilled`` unless the condition holds.
public func ensure(
  _ condition: @autoclosure () throws -> Bool,
  _ message: @autoclosure () -> String = "the condition does not hold",
  fileID: String = #fileID, line: Int = #line
) throws {
  guard try condition() else { throw Unfulfilled(description: message(), fileID: fileID, line: line) }
}

/// Throws ``Unfulfilled``, with both values, unless they are equal.
public func ensureEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ message: @autoclosure () -> String = "", fileID: String = #fileID,
  line: Int = #line
) throws {
  guard value != expected else { return }
  let note = message()
  throw Unfulfilled(
    description:
      "\(note.isEmpty ? "" : "\(note): ")\(swiftSource(of: value)) is not \(swiftSource(of: expected))",
    fileID: fileID, line: line)
}

/// Throws ``Discarded`` unless the condition holds. The case then does not count.
public func assume(_ condition: Bool) throws {
  guard condition else { throw Discarded() }
}

/// Thrown by a property of which a case says nothing.
public struct Discarded: Error, Sendable {
  public init() {}
}
