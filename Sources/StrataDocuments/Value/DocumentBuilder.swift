// The builder in which parsers collect the values of open arrays and objects: two reused stacks, so that every array is
// allocated once, in its final size.

/// The unfinished containers of one parse. Memory grows with the values that were read, never with a count that the
/// input claims.
struct DocumentBuilder: ~Copyable {
  /// A pair, with the first bytes of its key for sorting.
  struct Pair {
    var prefix: UInt64
    var key: String
    var value: DocumentValue
    /// The offset of the key in the input.
    var offset: Int
  }

  private var values = MoveStack<DocumentValue>()
  private var pairs = MoveStack<Pair>()

  /// The start of an array that begins now, to be passed to `array(from:)` at its end.
  var arrayStart: Int { values.count }
  /// The start of an object that begins now, to be passed to `object(from:)` at its end.
  var objectStart: Int { pairs.count }

  mutating func append(_ value: consuming DocumentValue) { values.push(value) }

  mutating func append(_ value: consuming DocumentValue, forKey key: consuming String, at offset: Int) {
    pairs.push(Pair(prefix: key.bytePrefix, key: key, value: value, offset: offset))
  }

  /// Removes the values that were appended since the start, and returns them as an array.
  mutating func array(from start: Int) -> DocumentArray {
    let count = values.count - start
    let elements = DocumentElements<DocumentValue>(count: count) {
      $0.moveInitialize(from: values.base + start, count: count)
    }
    values.forget(to: start)
    return DocumentArray(elements)
  }

  /// Removes the pairs that were appended since the start, and returns them as an object; or, if a key occurs twice,
  /// the second occurrence.
  mutating func object(from start: Int) -> Result<DocumentObject, DuplicateKey> {
    let count = pairs.count - start
    if count == 0 { return .success(DocumentObject()) }
    let region = UnsafeMutableBufferPointer(start: pairs.base + start, count: count)
    Self.sort(region)
    for index in 1..<max(count, 1) where Self.order(region[index - 1], region[index]) == 0 {
      let offset = max(region[index - 1].offset, region[index].offset)
      return .failure(DuplicateKey(key: region[index].key, offset: offset))
    }
    let entries = DocumentElements<DocumentObject.Entry>(count: count) { entries in
      for index in 0..<count {
        let pair = (pairs.base + start + index).move()
        (entries + index).initialize(to: .init(key: pair.key, value: pair.value))
      }
    }
    pairs.forget(to: start)
    return .success(DocumentObject(ascending: entries))
  }

  struct DuplicateKey: Error {
    var key: String
    var offset: Int
  }

  @inline(__always)
  private static func order(_ a: borrowing Pair, _ b: borrowing Pair) -> Int {
    if a.prefix != b.prefix { return a.prefix < b.prefix ? -1 : 1 }
    return a.key.comparingBytes(to: b.key)
  }

  private static func sort(_ pairs: UnsafeMutableBufferPointer<Pair>) {
    guard pairs.count <= CodecLimits.insertionSortCountMax else {
      var pairs = pairs
      pairs.sort { order($0, $1) < 0 }
      return
    }
    guard let base = pairs.baseAddress else { return }
    for index in 1..<max(pairs.count, 1) where order(base[index - 1], base[index]) > 0 {
      let moved = (base + index).move()
      var hole = index
      repeat {
        (base + hole).moveInitialize(from: base + hole - 1, count: 1)
        hole -= 1
      } while hole > 0 && order(base[hole - 1], moved) > 0
      (base + hole).initialize(to: moved)
    }
  }
}
