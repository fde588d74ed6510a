// The arrays of documents, and what is under a tag.

/// The values of an array, used as a standard array is.
///
/// It is a type of its own because standard arrays that are nested in each other are released one inside the other: a
/// document that a program nests 60,000 deep would end the program when it is released. See ``DocumentValue``.
public struct DocumentArray: Sendable {
  var elements: DocumentElements<DocumentValue>

  init(_ elements: DocumentElements<DocumentValue>) { self.elements = elements }
}

extension DocumentArray: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  public init() { elements = DocumentElements() }

  /// Creates an array of the same values. O(n).
  public init(_ values: some Sequence<DocumentValue>) { elements = DocumentElements(Array(values)) }

  public var startIndex: Int { 0 }
  public var endIndex: Int { elements.endIndex }

  public subscript(position: Int) -> DocumentValue {
    get { elements[position] }
    _modify { yield &elements[position] }
  }

  public mutating func replaceSubrange(_ range: Range<Int>, with values: some Collection<DocumentValue>) {
    elements.replaceSubrange(range, with: values)
  }

  public func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<DocumentValue>) throws -> Result
  ) rethrows -> Result? {
    try elements.withContiguousStorageIfAvailable(body)
  }
}

extension DocumentArray: Hashable {
  public static func == (a: DocumentArray, b: DocumentArray) -> Bool {
    DocumentValue.array(a) == DocumentValue.array(b)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(DocumentValue.array(self)) }
}

extension DocumentArray: ExpressibleByArrayLiteral {
  public init(arrayLiteral elements: DocumentValue...) { self.init(elements) }
}

extension DocumentArray: CustomStringConvertible {
  /// The array as compact JSON.
  public var description: String { DocumentValue.array(self).json() }
}

/// The value under a tag.
public struct DocumentContent: Sendable {
  private var element: DocumentElements<DocumentValue>

  public init(_ value: DocumentValue) {
    element = DocumentElements(count: 1) { $0.initialize(to: value) }
  }

  public var value: DocumentValue {
    get { element[0] }
    _modify { yield &element[0] }
  }
}

extension DocumentContent: Hashable {
  public static func == (a: DocumentContent, b: DocumentContent) -> Bool { a.value == b.value }
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension DocumentValue {
  /// Creates an array of values.
  public static func array(_ values: [DocumentValue]) -> DocumentValue { .array(DocumentArray(values)) }

  /// Creates a value with a CBOR tag (RFC 8949, 3.4) other than 2 and 3, which are `bigInt`.
  public static func tagged(_ tag: UInt64, _ value: DocumentValue) -> DocumentValue {
    .tagged(tag, DocumentContent(value))
  }
}
