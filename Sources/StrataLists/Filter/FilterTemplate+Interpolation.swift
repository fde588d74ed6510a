// Templates of filters as string literals with values in them.

public import StrataTables

extension FilterTemplate: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(text, []) }

  public init(stringInterpolation parts: StringInterpolation) {
    self.init(parts.text, parts.arguments)
    // A filter has a text as long as there is room for one.
    if text.utf8.count > RowFilter.byteCountMax { self = withoutTextOfLists() }
  }

  /// The text and the values of a template, as they are appended.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var arguments: [Argument] = []

    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a value as a literal.
    public mutating func appendInterpolation(_ value: some FilterLiteral) { append(value.filterArgument) }

    /// Appends values as a list, which is allowed after `in`.
    public mutating func appendInterpolation<Value: FilterLiteral>(_ values: [Value]) {
      append(FilterArgument(list: values.map(\.filterArgument)))
    }

    /// Appends values as a list, which is allowed after `in`. Equal sets are equal lists.
    public mutating func appendInterpolation<Value: FilterLiteral>(_ values: Set<Value>) {
      let elements = values.map(\.filterArgument).map { (text: $0.text, value: $0) }
      append(
        FilterArgument(
          list: elements.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }.map(\.value)))
    }

    /// Appends a field.
    public mutating func appendInterpolation(field path: FieldPath) {
      append(FilterArgument(.field(path)))
    }

    /// Makes the template malformed.
    ///
    /// Without this method a literal with such a value would not be a template, and the compiler would make a `String`
    /// of it: the value would be parsed as a part of the text.
    @available(*, deprecated, message: "this is not a literal of a filter: conform its type to FilterLiteral")
    @_disfavoredOverload
    public mutating func appendInterpolation<Value>(_ value: Value) {
      append(
        .malformed(
          "\\(\(Value.self))", "a value of the type \(Value.self) is not a literal",
          "conform the type to FilterLiteral, or interpolate a value of a type that does"))
    }

    mutating func append(_ value: FilterArgument) {
      let start = text.utf8.count
      text += value.text
      arguments.append(Argument(byteRange: start..<text.utf8.count, value: value))
    }
  }
}
