// The check that CBOR bytes are in the deterministic encoding.

extension CBORReader {
  /// Whether these bytes are one item in the core deterministic encoding (RFC 8949, 4.2.1): shortest heads and
  /// floats, no indefinite lengths, keys strictly ascending by their encoded bytes, big integers only where 64
  /// bits are not enough. False for bytes that are not an item. O(n).
  package static func isDeterministic(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isDeterministic(bytes, isDocument: false)
  }

  /// Whether these bytes are one item in the core deterministic encoding.
  package static func isDeterministic(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { isDeterministic($0) }
  }

  /// Whether `DocumentValue.cbor()` returns these bytes for some value: one item in the core deterministic encoding
  /// that a document can hold. O(n).
  package static func isDeterministicDocument(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isDeterministic(bytes, isDocument: true)
  }

  private static func isDeterministic(_ bytes: UnsafeRawBufferPointer, isDocument: Bool) -> Bool {
    var reader = CBORReader(bytes)
    do {
      return try reader.skipDeterministic(depth: 0, isDocument: isDocument) && reader.isAtEnd
    } catch {
      return false
    }
  }

  /// Moves past one item. False as soon as something in it is not deterministic, or, if `isDocument`, is something
  /// that a document cannot hold (`CodecError.Reason.notRepresentable`).
  private mutating func skipDeterministic(depth: Int, isDocument: Bool) throws(CodecError) -> Bool {
    let start = offset
    let head = try readHead()
    let length = offset - start
    switch head {
    case .unsigned(let value), .negative(let value): return length == Self.headLength(value)
    case .bytes(let count?):
      _ = try readRaw(count: count)
      return length == Self.headLength(UInt64(count))
    case .text(let count?):
      guard UTF8Validation.isValid(try readRaw(count: count)) else { return false }
      return length == Self.headLength(UInt64(count))
    case .array(let count?):
      guard depth < CodecLimits.depthMax, length == Self.headLength(UInt64(count)) else { return false }
      for _ in 0..<count {
        guard try skipDeterministic(depth: depth + 1, isDocument: isDocument) else { return false }
      }
      return true
    case .map(let count?):
      guard depth < CodecLimits.depthMax, length == Self.headLength(UInt64(count)) else { return false }
      return try skipDeterministicPairs(count, depth: depth + 1, isDocument: isDocument)
    case .tag(let tag):
      guard length == Self.headLength(tag) else { return false }
      if tag == CBORTag.positiveBignum || tag == CBORTag.negativeBignum {
        if let byte = nextByte, byte & 0xE0 == CBORMajor.bytes {
          return try skipDeterministicInteger(isDocument: isDocument)
        }
        if isDocument { return false }
      }
      guard depth < CodecLimits.depthMax else { return false }
      return try skipDeterministic(depth: depth + 1, isDocument: isDocument)
    case .bool, .null: return true
    case .undefined, .simple: return !isDocument
    case .float(let value):
      // The writer is created only here, so that input without floats costs no allocation.
      var shortest = CBORWriter(capacity: 16)
      shortest.writeDouble(value)
      return shortest.withUnsafeBytes { bytes in
        bytes.elementsEqual(UnsafeRawBufferPointer(start: base + start, count: length))
      }
    default: return false
    }
  }

  private mutating func skipDeterministicPairs(
    _ count: Int, depth: Int, isDocument: Bool
  ) throws(CodecError) -> Bool {
    var previous = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    for _ in 0..<count {
      let start = offset
      if isDocument, let byte = nextByte, byte & 0xE0 != CBORMajor.text { return false }
      if !skipPlain() {
        guard try skipDeterministic(depth: depth, isDocument: isDocument) else { return false }
      }
      let key = UnsafeRawBufferPointer(start: base + start, count: offset - start)
        .assumingMemoryBound(to: UInt8.self)
      guard compareBytes(previous, key) < 0 else { return false }
      previous = key
      if !skipPlain() {
        guard try skipDeterministic(depth: depth, isDocument: isDocument) else { return false }
      }
    }
    return true
  }

  /// Moves past one of the items that most documents consist of: a small integer, one of 32 bits, a short ASCII text,
  /// a boolean or null. Returns false without moving for everything else, whether deterministic or not.
  @inline(__always)
  private mutating func skipPlain() -> Bool {
    guard let initial = nextByte else { return false }
    switch initial {
    case 0x00...0x17, 0x20...0x37, 0xF4...0xF6:
      offset &+= 1
      return true
    case 0x1A, 0x3A:
      guard remaining > 4 else { return false }
      let number = UInt32(bigEndian: base.loadUnaligned(fromByteOffset: offset &+ 1, as: UInt32.self))
      guard number > 0xFFFF else { return false }
      offset &+= 5
      return true
    case 0x60...0x77:
      let count = Int(initial & 0x1F)
      guard remaining > count,
        UTF8Validation.isASCIIOnly(UnsafeRawBufferPointer(start: base + offset + 1, count: count))
      else { return false }
      offset &+= 1 &+ count
      return true
    default: return false
    }
  }

  /// Moves past the bytes of a big integer: more than eight, without a leading zero, and in a document at most
  /// `CodecLimits.integerByteCountMax`.
  private mutating func skipDeterministicInteger(isDocument: Bool) throws(CodecError) -> Bool {
    let start = offset
    guard case .bytes(let count?) = try readHead(), offset - start == Self.headLength(UInt64(count)) else {
      return false
    }
    let bytes = try readRaw(count: count)
    if isDocument, bytes.count > CodecLimits.integerByteCountMax { return false }
    return bytes.count > 8 && bytes.first != 0
  }

  /// The length of the shortest head for this argument, in bytes.
  static func headLength(_ argument: UInt64) -> Int {
    switch argument {
    case 0..<24: 1
    case 24...0xFF: 2
    case 0x100...0xFFFF: 3
    case 0x1_0000...0xFFFF_FFFF: 5
    default: 9
    }
  }
}
