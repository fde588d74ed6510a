// Documents as CBOR: the output is deterministic; the input may be any encoding that a document can hold.

extension DocumentValue {
  /// Returns the value in the core deterministic encoding (RFC 8949, 4.2.1). Equal values have equal bytes.
  ///
  /// The value must not be nested deeper than `CodecLimits.depthMax`, since it could not be read back: this traps. What
  /// else could not be read back, `refusal` says.
  /// O(n) in the bytes, and O(k log k) for an object of k keys.
  package func cbor() -> [UInt8] {
    var writer = CBORWriter()
    writer.write(self)
    return writer.bytes
  }

  /// Reads a value from bytes that are exactly one item. Encodings that are not deterministic are accepted too.
  ///
  /// Throws if the bytes are damaged, if more bytes follow the item, if an object has a key twice, or if a document
  /// cannot hold the item (`.notRepresentable`). O(n), and O(k log k) for an object of k keys.
  package init(cbor bytes: UnsafeRawBufferPointer) throws(CodecError) {
    var reader = CBORReader(bytes)
    self = try reader.readDocument()
    guard reader.isAtEnd else { throw CodecError(.trailingBytes, at: reader.offset) }
  }

  /// Reads a value from bytes that are exactly one item. Encodings that are not deterministic are accepted too.
  package init(cbor bytes: [UInt8]) throws(CodecError) {
    self = try bytes.withUnsafeBufferPointer { (buffer) throws(CodecError) in
      try DocumentValue(cbor: UnsafeRawBufferPointer(buffer))
    }
  }
}

extension CBORWriter {
  /// Writes a document, with keys in the order of their encoded bytes.
  package mutating func write(_ value: DocumentValue) { write(value, depth: 0) }

  private mutating func write(_ value: DocumentValue, depth: Int) {
    switch value {
    case .null: writeNull()
    case .bool(let value): writeBool(value)
    case .int(let value): writeInteger(value)
    case .uint(let value): writeUnsigned(value)
    case .bigInt(let value): writeInteger(value)
    case .double(let value): writeDouble(value)
    case .string(let value): writeText(value)
    case .bytes(let value): value.withUnsafeBytes { writeBytes($0) }
    case .array(let values):
      checkDepth(depth)
      writeArrayHead(count: values.count)
      for value in values.elements { write(value, depth: depth + 1) }
    case .object(let object):
      checkDepth(depth)
      writeMapHead(count: object.count)
      writePairs(object.entries, depth: depth + 1)
    case .tagged(let tag, let value):
      checkDepth(depth)
      writeTag(tag)
      write(value.value, depth: depth + 1)
    }
  }

  private func checkDepth(_ depth: Int) {
    precondition(depth < CodecLimits.depthMax, "a document is not nested deeper than CodecLimits.depthMax")
  }

  /// Writes the pairs of an object. They are sorted by UTF-8, and encoded text is sorted by length first, so a stable
  /// sort by length gives the right order.
  private mutating func writePairs(_ entries: DocumentElements<DocumentObject.Entry>, depth: Int) {
    var previous = 0
    var isOrdered = true
    for entry in entries {
      let length = entry.key.utf8.count
      if length < previous { isOrdered = false }
      previous = length
    }
    if isOrdered {
      for entry in entries {
        writeText(entry.key)
        write(entry.value, depth: depth)
      }
      return
    }
    withUnsafeTemporaryAllocation(of: (length: Int, index: Int).self, capacity: entries.count) { buffer in
      var order = buffer
      for index in entries.indices {
        let length = entries[index].key.utf8.count
        var hole = index
        if entries.count <= CodecLimits.insertionSortCountMax {
          while hole > 0, order[hole - 1].length > length {
            order.initializeElement(at: hole, to: order[hole - 1])
            hole -= 1
          }
        }
        order.initializeElement(at: hole, to: (length, index))
      }
      if entries.count > CodecLimits.insertionSortCountMax { order.sort { $0 < $1 } }
      for position in order {
        writeText(entries[position.index].key)
        write(entries[position.index].value, depth: depth)
      }
    }
  }
}

extension CBORReader {
  /// Reads one item as a document.
  package mutating func readDocument() throws(CodecError) -> DocumentValue {
    var builder = DocumentBuilder()
    return try readDocument(&builder, depth: 0)
  }

  private mutating func readDocument(
    _ builder: inout DocumentBuilder,
    depth: Int
  ) throws(CodecError) -> DocumentValue {
    let start = offset
    let head = try readHead()
    switch head {
    case .unsigned(let value): return value <= UInt64(Int64.max) ? .int(Int64(value)) : .uint(value)
    case .negative(let offset):
      if offset <= UInt64(Int64.max) { return .int(-1 - Int64(offset)) }
      return .bigInt(DocumentInteger(-1 - Int128(offset)))
    case .bytes(let count): return .bytes(try readBytes(count: count))
    case .text(let count): return .string(try readText(count: count, at: start))
    case .array(let count): return .array(try readItems(count, &builder, depth: depth, at: start))
    case .map(let count): return .object(try readPairs(count, &builder, depth: depth, at: start))
    case .tag(let tag): return try readTagged(tag, &builder, depth: depth, at: start)
    case .bool(let value): return .bool(value)
    case .null: return .null
    case .float(let value): return .double(value)
    case .undefined, .simple: throw CodecError(.notRepresentable(head.kind), at: start)
    case .breakCode: throw CodecError(.malformed, at: start)
    }
  }

  private mutating func readItems(
    _ count: Int?,
    _ builder: inout DocumentBuilder,
    depth: Int,
    at start: Int
  ) throws(CodecError) -> DocumentArray {
    guard depth < CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
    let arrayStart = builder.arrayStart
    if let count {
      for _ in 0..<count { builder.append(try readDocument(&builder, depth: depth + 1)) }
    } else {
      while !(try readBreak()) { builder.append(try readDocument(&builder, depth: depth + 1)) }
    }
    return builder.array(from: arrayStart)
  }

  private mutating func readPairs(
    _ count: Int?,
    _ builder: inout DocumentBuilder,
    depth: Int,
    at start: Int
  ) throws(CodecError) -> DocumentObject {
    guard depth < CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
    let objectStart = builder.objectStart
    if let count {
      for _ in 0..<count { try readPair(&builder, depth: depth + 1) }
    } else {
      while !(try readBreak()) { try readPair(&builder, depth: depth + 1) }
    }
    switch builder.object(from: objectStart) {
    case .success(let object): return object
    case .failure(let duplicate): throw CodecError(.duplicateKey(duplicate.key), at: duplicate.offset)
    }
  }

  private mutating func readPair(_ builder: inout DocumentBuilder, depth: Int) throws(CodecError) {
    let start = offset
    let head = try readHead()
    guard case .text(let count) = head else {
      if head == .breakCode { throw CodecError(.malformed, at: start) }
      throw CodecError(.notRepresentable(head.kind), at: start)
    }
    let key = try readText(count: count, at: start)
    builder.append(try readDocument(&builder, depth: depth), forKey: key, at: start)
  }

  private mutating func readTagged(
    _ tag: UInt64,
    _ builder: inout DocumentBuilder,
    depth: Int,
    at start: Int
  ) throws(CodecError) -> DocumentValue {
    guard tag == CBORTag.positiveBignum || tag == CBORTag.negativeBignum else {
      guard depth < CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
      return .tagged(tag, try readDocument(&builder, depth: depth + 1))
    }
    guard case .bytes(let count) = try readHead() else {
      throw CodecError(.notRepresentable(.tag(tag)), at: start)
    }
    let bytes = try readBytes(count: count)
    guard bytes.count <= CodecLimits.integerByteCountMax else { throw CodecError(.tooLong, at: start) }
    if tag == CBORTag.positiveBignum {
      return DocumentValue(DocumentInteger(isNegative: false, magnitude: bytes))
    }
    return DocumentValue(DocumentInteger(negativeOffset: bytes))
  }
}
