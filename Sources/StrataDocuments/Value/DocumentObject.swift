// The objects of documents: unique keys in ascending order of their UTF-8 bytes.

/// A map from keys to values, iterated in ascending order of the keys' UTF-8 bytes.
///
/// The order of insertion does not matter. Keys are compared byte by byte, so é as one scalar and é as two are
/// different keys. The entries are in one sorted array: lookup is O(log n), insertion O(n), iteration O(n).
public struct DocumentObject: Sendable {
  public typealias Element = (key: String, value: DocumentValue)

  /// A key and its value. A struct, since arrays of tuples are copied and destroyed through the Swift runtime.
  struct Entry: Sendable {
    var key: String
    var value: DocumentValue
  }

  /// Strictly ascending by the keys' UTF-8.
  private(set) var entries: DocumentElements<Entry>

  public init() { entries = DocumentElements() }

  /// Creates an object from pairs, in which no key may occur twice. O(n²), or O(n) if the keys ascend.
  public init(uniqueKeysWithValues pairs: some Sequence<(String, DocumentValue)>) {
    self.init()
    for (key, value) in pairs {
      let previous = updateValue(value, forKey: key)
      precondition(previous == nil, "the key \(String(reflecting: key)) occurs twice")
    }
  }

  /// Creates an object from entries whose keys are strictly ascending.
  init(ascending entries: DocumentElements<Entry>) {
    assert(zip(entries, entries.dropFirst()).allSatisfy { $0.key.bytesPrecede($1.key) })
    self.entries = entries
  }
}

extension DocumentObject {
  /// The value of a key. Reading is O(log n). Setting a new key or nil is O(n), except that keys set in ascending order
  /// cost O(1) each.
  public subscript(key: String) -> DocumentValue? {
    get {
      let (index, isFound) = position(of: key)
      return isFound ? entries[index].value : nil
    }
    set {
      if let newValue {
        updateValue(newValue, forKey: key)
      } else {
        removeValue(forKey: key)
      }
    }
  }

  /// Sets a key's value, and returns the previous one.
  @discardableResult
  package mutating func updateValue(_ value: DocumentValue, forKey key: String) -> DocumentValue? {
    let (index, isFound) = position(of: key)
    guard isFound else {
      entries.insert(Entry(key: key, value: value), at: index)
      return nil
    }
    let old = entries[index].value
    entries[index].value = value
    return old
  }

  /// Removes a key, and returns its value.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> DocumentValue? {
    let (index, isFound) = position(of: key)
    return isFound ? entries.remove(at: index).value : nil
  }

  /// The keys, ascending.
  public var keys: some RandomAccessCollection<String> & Sendable { entries.lazy.map(\.key) }

  /// The index of a key that does not precede the start, or the index at which it would be inserted.
  func position(of key: String, from start: Int = 0) -> (index: Int, isFound: Bool) {
    guard start < entries.count else { return (start, false) }
    let order = entries[entries.count - 1].key.comparingBytes(to: key)
    if order < 0 { return (entries.count, false) }
    if order == 0 { return (entries.count - 1, true) }
    var low = start
    var high = entries.count - 1
    while low < high {
      let middle = (low + high) / 2
      let order = entries[middle].key.comparingBytes(to: key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

extension DocumentObject: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { entries.count }
  public subscript(position: Int) -> Element { (entries[position].key, entries[position].value) }
}

extension DocumentObject: Hashable {
  public static func == (a: DocumentObject, b: DocumentObject) -> Bool {
    DocumentValue.object(a) == DocumentValue.object(b)
  }

  public func hash(into hasher: inout Hasher) { hash(into: &hasher, level: 0) }

  func hash(into hasher: inout Hasher, level: Int) {
    hasher.combine(entries.count)
    for entry in entries {
      entry.key.hashBytes(into: &hasher)
      entry.value.hash(into: &hasher, level: level + 1)
    }
  }
}

extension DocumentObject: ExpressibleByDictionaryLiteral {
  /// Creates an object from a literal, in which no key may occur twice.
  public init(dictionaryLiteral elements: (String, DocumentValue)...) {
    self.init(uniqueKeysWithValues: elements)
  }
}

extension DocumentObject: CustomStringConvertible {
  /// The object as compact JSON.
  public var description: String { DocumentValue.object(self).json() }
}
