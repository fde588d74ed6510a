// Documents as literals in code: `["impact": "High", "open": true, "hours": 1.5, "owner": .null]`.
//
// `nil` is not a literal for null: it would turn "no value" into "the value null" wherever an optional value is
// expected, as in `found ? value : nil`.

extension DocumentValue: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension DocumentValue: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) { self = .int(value) }
}

extension DocumentValue: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) { self = .string(value) }
}

extension DocumentValue: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
}

extension DocumentValue: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal, in which no key may occur twice.
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self = .object(DocumentObject(uniqueKeysWithValues: elements))
  }
}
