// Values of any type, written into slots.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension EncodingState {
  /// Writes a scalar into a slot.
  @inline(__always)
  func write(in slot: Int, _ body: (inout CBORWriter) -> Void) {
    precondition(slots[slot].kind == .empty, "a value encodes itself only once")
    slots[slot].kind = .scalar
    slots[slot].valueStart = scratch.count
    body(&scratch)
    slots[slot].valueEnd = scratch.count
  }

  func encodeNil(in slot: Int) { write(in: slot) { $0.writeNull() } }
  func encode(_ value: Bool, in slot: Int) { write(in: slot) { $0.writeBool(value) } }
  func encode(_ value: Int64, in slot: Int) { write(in: slot) { $0.writeInteger(value) } }
  func encode(_ value: UInt64, in slot: Int) { write(in: slot) { $0.writeUnsigned(value) } }
  func encode(_ value: Double, in slot: Int) { write(in: slot) { $0.writeDouble(value) } }
  func encode(_ value: String, in slot: Int) { write(in: slot) { $0.writeText(value) } }
  func encode(_ value: DocumentValue, in slot: Int) { write(in: slot) { $0.write(value) } }

  /// Encodes a value of any type. The types that have their own form in documents are encoded here, all others by their
  /// `encode(to:)`.
  func encode<Value: Encodable>(_ value: Value, in slot: Int) throws {
    if Value.self == String.self { return encode(unsafeBitCast(value, to: String.self), in: slot) }
    if Value.self == Int.self { return encode(Int64(unsafeBitCast(value, to: Int.self)), in: slot) }
    if Value.self == Double.self { return encode(unsafeBitCast(value, to: Double.self), in: slot) }
    if Value.self == Date.self { return try encode(unsafeBitCast(value, to: Date.self), in: slot) }
    if Value.self == UUID.self { return encode(unsafeBitCast(value, to: UUID.self), in: slot) }
    if Value.self == Data.self { return encode(unsafeBitCast(value, to: Data.self), in: slot) }
    if Value.self == URL.self {
      return encode(unsafeBitCast(value, to: URL.self).absoluteString, in: slot)
    }
    if Value.self == Decimal.self { return try encode(unsafeBitCast(value, to: Decimal.self), in: slot) }
    if Value.self == DocumentValue.self {
      let document = unsafeBitCast(value, to: DocumentValue.self)
      let (depth, refusal) = document.measured()
      guard Int(slots[slot].depth) + depth <= CodecLimits.depthMax else {
        throw tooDeep(value, in: slot)
      }
      if let refusal { throw invalid(Value.self, "\(refusal), which could not be read back", in: slot) }
      return encode(document, in: slot)
    }
    guard slots[slot].depth <= CodecLimits.depthMax, callDepth < Self.callDepthMax else {
      throw tooDeep(value, in: slot)
    }
    callDepth &+= 1
    defer { callDepth &-= 1 }
    try value.encode(to: SlotEncoder(state: self, slot: slot))
    if slots[slot].kind == .array {
      let groupSize = UnorderedMembers.groupSize(in: Value.self)
      // What a set was passed through, such as an optional, leaves it as it is.
      if groupSize > 0 { slots[slot].groupSize = groupSize }
    }
  }

  private func encode(_ value: UUID, in slot: Int) {
    write(in: slot) { writer in
      value.withText { text in
        writer.writeHead(CBORMajor.text, UInt64(text.count))
        writer.writeEncoded(UnsafeRawBufferPointer(text))
      }
    }
  }

  private func encode(_ value: Date, in slot: Int) throws {
    let isWritten: Void? = value.instant.flatMap { instant in
      RFC3339.withText(instant) { text in
        write(in: slot) { writer in
          writer.writeHead(CBORMajor.text, UInt64(text.count))
          writer.writeEncoded(UnsafeRawBufferPointer(text))
        }
      }
    }
    guard isWritten == nil else { return }
    // The error holds the seconds and not the date, because describing such a date traps.
    throw invalid(
      value.timeIntervalSinceReferenceDate, "a date outside the years 0000…9999 (seconds since 2001)",
      in: slot)
  }

  private func encode(_ value: Data, in slot: Int) {
    write(in: slot) { writer in value.withUnsafeBytes { writer.writeBytes($0) } }
  }

  private func encode(_ value: Decimal, in slot: Int) throws {
    guard let document = value.documentValue else {
      throw invalid(value, "a decimal that is not a number", in: slot)
    }
    encode(document, in: slot)
  }

  func invalid(_ value: Any, _ explanation: String, in slot: Int) -> EncodingError {
    .invalidValue(value, .init(codingPath: path(to: slot), debugDescription: explanation))
  }

  /// The error holds the type and not the value, whose description could overflow the stack.
  func tooDeep<Value>(_ value: Value, in slot: Int) -> EncodingError {
    invalid(Value.self, "nested deeper than \(CodecLimits.depthMax)", in: slot)
  }
}
