// Keys of objects that the decoded type does not know, for decoding that refuses them.

/// The keys that no container of their object knows, collected during one call of the decoder.
///
/// A container knows the keys for which its `CodingKey` type has a value, whether or not they are read. A type that
/// opens several containers on one object, as a class with a superclass does, knows the keys of all of them.
struct UnknownKeys {
  /// Unknown keys by the offset of their object. An object without unknown keys has an empty list.
  private var keysByObject: [Int: [String]] = [:]

  /// Notes that a container was opened on an object.
  mutating func open(_ index: MapIndex, knowing isKnown: (String) -> Bool) {
    keysByObject[index.offset] = (keysByObject[index.offset] ?? index.keys).filter { !isKnown($0) }
  }

  /// The first object in the input with an unknown key, and the least of its unknown keys.
  var first: (object: Int, key: String)? {
    let objects = keysByObject.lazy.filter { !$0.value.isEmpty }
    guard let (object, keys) = objects.min(by: { $0.key < $1.key }), let key = keys.min() else { return nil }
    return (object, key)
  }
}

extension DecodingState {
  /// Throws if an object has a key that no container of the decoded value knows.
  func checkKeysAreKnown() throws {
    guard let (object, key) = unknownKeys?.first else { return }
    throw DecodingError.dataCorrupted(
      .init(codingPath: path(to: object), debugDescription: "the type has no field \"\(key)\""))
  }
}
