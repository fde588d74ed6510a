// Values of any type, among them those of Foundation that have their own form in documents.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DecodingState {
  /// Decodes a value of any type. The types that have their own form in documents are decoded here, all others by their
  /// `init(from:)`.
  func decode<Value: Decodable>(_ type: Value.Type, at offset: Int) throws -> Value {
    if type == String.self { return unsafeBitCast(try decodeString(at: offset), to: type) }
    if type == Int.self { return unsafeBitCast(try decodeInteger(Int.self, at: offset), to: type) }
    if type == Double.self { return unsafeBitCast(try decodeDouble(at: offset), to: type) }
    if type == Date.self { return unsafeBitCast(try decodeDate(at: offset), to: type) }
    if type == UUID.self { return unsafeBitCast(try decodeUUID(at: offset), to: type) }
    if type == Data.self { return unsafeBitCast(try decodeData(at: offset), to: type) }
    if type == URL.self { return unsafeBitCast(try decodeURL(at: offset), to: type) }
    if type == Decimal.self { return unsafeBitCast(try decodeDecimal(at: offset), to: type) }
    if type == DocumentValue.self { return unsafeBitCast(try decodeDocument(at: offset), to: type) }
    return try type.init(from: ItemDecoder(state: self, offset: offset))
  }

  /// Calls `body` with the UTF-8 of a text string, not yet validated, or throws.
  @inline(__always)
  private func withText<Result>(
    at offset: Int,
    _ type: Any.Type,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) throws -> Result {
    if let text = plainText(at: offset) { return body(text) }
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .text = head else { throw mismatch(head, type, at: offset) }
    return try decodeString(at: offset).withUTF8Bytes(body)
  }

  private func decodeDate(at offset: Int) throws -> Date {
    if let seconds = offsetOfSeconds(inDateAt: offset) {
      return Date(timeIntervalSince1970: try decodeDouble(at: seconds))
    }
    guard let instant = try withText(at: offset, Date.self, { RFC3339.instant($0) }) else {
      throw corrupted("a string that is not a date and time of RFC 3339", at: offset)
    }
    return Date(instant)
  }

  /// The offset of what follows tag 1, which may be inside other tags; nil if there is no tag 1.
  @inline(__always)
  private func offsetOfSeconds(inDateAt offset: Int) -> Int? {
    var reader = reader(at: offset)
    while let byte = reader.nextByte, byte & 0xE0 == CBORMajor.tag, let tag = try? reader.readArgument() {
      switch tag {
      case CBORTag.epochDate: return reader.offset
      case CBORTag.positiveBignum, CBORTag.negativeBignum: return nil
      default: continue
      }
    }
    return nil
  }

  private func decodeUUID(at offset: Int) throws -> UUID {
    if let text = plainText(at: offset), let value = UUID(text: text) { return value }
    var reader = reader(at: offset)
    if case .bytes = try readHead(&reader) {
      let bytes = try decodeBytes(UUID.self, at: offset)
      guard bytes.count == 16 else { throw corrupted("a UUID of \(bytes.count) bytes", at: offset) }
      return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
    guard let value = try withText(at: offset, UUID.self, { UUID(text: $0) }) else {
      throw corrupted("a string that is not a UUID", at: offset)
    }
    return value
  }

  private func decodeData(at offset: Int) throws -> Data { Data(try decodeBytes(Data.self, at: offset)) }

  private func decodeBytes(_ type: Any.Type, at offset: Int) throws -> [UInt8] {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    guard case .bytes(let count) = head else { throw mismatch(head, type, at: offset) }
    do {
      return try reader.readBytes(count: count)
    } catch {
      throw corrupted(error, path: path(to: offset))
    }
  }

  private func decodeURL(at offset: Int) throws -> URL {
    guard let value = URL(string: try decodeString(at: offset)) else {
      throw corrupted("a string that is not a URL", at: offset)
    }
    return value
  }

  private func decodeDecimal(at offset: Int) throws -> Decimal {
    var reader = reader(at: offset)
    let head = try readHead(&reader)
    let value: Decimal? =
      switch head {
      case .unsigned(let value): Decimal(value)
      case .negative, .float, .text, .tag: Decimal(try decodeUntagged(at: offset))
      default: throw mismatch(head, Decimal.self, at: offset)
      }
    guard let value else { throw corrupted("a value that is not a decimal number", at: offset) }
    return value
  }
}
