// Numbers, text and documents, read from the item at an offset.

extension DecodingState {
  /// Reads a head, and skips tags other than those of big integers.
  @inline(__always)
  func readHead(_ reader: inout CBORReader) throws -> CBORHead {
    let start = reader.offset
    do {
      while true {
        let head = try reader.readHead()
        guard case .tag(let tag) = head, tag != CBORTag.positiveBignum, tag != CBORTag.negativeBignum else {
          return head
        }
      }
    } catch {
      throw corrupted(error, path: path(to: start))
    }
  }

  func isNull(at offset: Int) -> Bool {
    let byte = reader(at: offset).nextByte
    return byte == CBORByte.null || byte == CBORByte.undefined
  }

  func decodeBool(at offset: Int) throws -> Bool {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .bool(let value) = head else { throw mismatch(head, Bool.self, at: offset) }
    return value
  }

  @inline(__always)
  func decodeInteger<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) throws -> Value {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    let value: Value? =
      switch head {
      case .unsigned(let value): Value(exactly: value)
      case .negative(let value) where value <= UInt64(Int64.max): Value(exactly: -1 - Int64(value))
      case .negative(let value): Value(exactly: -1 - Int128(value))
      case .float(let value): Value(exactly: value)
      case .tag: Value(try decodeUntagged(at: offset).description)
      default: throw mismatch(head, type, at: offset)
      }
    guard let value else { throw corrupted("a number that \(type) cannot hold", at: offset) }
    return value
  }

  func decodeDouble(at offset: Int) throws -> Double {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    switch head {
    case .float(let value): return value
    case .unsigned(let value): return Double(value)
    case .negative(let value): return Double(-1 - Int128(value))
    case .tag:
      guard let value = Double(try decodeUntagged(at: offset).description), value.isFinite else {
        throw corrupted("a number that Double cannot hold", at: offset)
      }
      return value
    default: throw mismatch(head, Double.self, at: offset)
    }
  }

  func decodeFloat(at offset: Int) throws -> Float {
    let value = try decodeDouble(at: offset)
    let single = Float(value)
    guard single.isFinite || !value.isFinite else {
      throw corrupted("a number that Float cannot hold", at: offset)
    }
    return single
  }

  func decodeString(at offset: Int) throws -> String {
    if let text = plainText(at: offset) {
      guard let string = String(validatingBytes: text) else {
        throw corrupted(CodecError(.notUTF8, at: offset), path: path(to: offset))
      }
      return string
    }
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .text(let count) = head else { throw mismatch(head, String.self, at: offset) }
    do {
      return try reader.readText(count: count, at: offset)
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  /// The UTF-8, not yet validated, of a text string in one piece whose head takes at most two bytes, as almost every
  /// string is. Nil for anything else, which the caller then reads in the general way.
  @inline(__always)
  func plainText(at offset: Int) -> UnsafeBufferPointer<UInt8>? {
    guard offset &+ 1 < bytes.count else { return nil }
    let info = bytes[offset] &- CBORMajor.text
    var start = offset &+ 1
    var count = Int(info)
    if info == 24 {
      count = Int(bytes[start])
      start &+= 1
    } else if info > 24 {
      return nil
    }
    guard count <= bytes.count &- start, let base = bytes.baseAddress else { return nil }
    return UnsafeBufferPointer(start: (base + start).assumingMemoryBound(to: UInt8.self), count: count)
  }

  func decodeDocument(at offset: Int) throws -> DocumentValue {
    var reader = reader(at: offset)
    do {
      return try reader.readDocument()
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  /// Decodes a document without its tags, other than those of big integers.
  func decodeUntagged(at offset: Int) throws -> DocumentValue {
    var document = try decodeDocument(at: offset)
    while case .tagged(_, let content) = document { document = content.value }
    return document
  }
}
