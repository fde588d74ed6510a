// Keys of coding that come from a document.

/// A key that is known by its text or its position.
struct DocumentKey: CodingKey {
  var stringValue: String
  var intValue: Int?

  init(stringValue: String) { self.stringValue = stringValue }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  /// The key under which a superclass is kept.
  static let superclass = DocumentKey(stringValue: "super")
}
