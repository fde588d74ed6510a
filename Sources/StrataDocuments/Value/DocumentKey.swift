// The coding key of documents.

/// A coding key that is a text or an index.
struct DocumentKey: CodingKey {
  var stringValue: String
  var intValue: Int?

  init(stringValue: String) { self.stringValue = stringValue }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  /// The key for the value of a superclass.
  static let superclass = DocumentKey(stringValue: "super")
}
