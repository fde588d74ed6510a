// The Codable conformance of documents, for use as a property of other types.

extension DocumentValue: Codable {
  /// Encodes the value. `CBOREncoder` writes it exactly. Other encoders receive what they can express: bytes, tags, NaN
  /// and infinities in the forms of `JSONWriter`, and big integers as strings. Throws `EncodingError.invalidValue` where
  /// it is nested deeper than 128 levels, together with the types that hold it.
  public func encode(to encoder: any Encoder) throws {
    if isContainer, encoder.codingPath.count >= CodecLimits.depthMax { throw Self.tooDeep(in: encoder) }
    switch self {
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values.elements { try container.encode(value) }
    case .object(let object):
      var container = encoder.container(keyedBy: DocumentKey.self)
      for (key, value) in object { try container.encode(value, forKey: DocumentKey(stringValue: key)) }
    case .double(let value) where !value.isFinite: try encodeAsJSON(to: encoder)
    case .bytes, .tagged: try encodeAsJSON(to: encoder)
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .bool(let value): try container.encode(value)
      case .int(let value): try container.encode(value)
      case .uint(let value): try container.encode(value)
      case .bigInt(let value): try container.encode(value.description)
      case .double(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      default: try container.encodeNil()
      }
    }
  }

  private static func tooDeep(in encoder: any Encoder) -> EncodingError {
    let what = "nested deeper than \(CodecLimits.depthMax)"
    return .invalidValue(
      DocumentValue.self, .init(codingPath: encoder.codingPath, debugDescription: what))
  }

  private func encodeAsJSON(to encoder: any Encoder) throws {
    guard depth < CodecLimits.depthMax else { throw Self.tooDeep(in: encoder) }
    try DocumentValue(json: jsonBytes()).encode(to: encoder)
  }

  /// Decodes a value. `CBORDecoder` reads it exactly. Other decoders give what they can distinguish: most read 1.0 as
  /// 1, and support neither bytes nor big integers.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: DocumentKey.self) {
      // In ascending order, in which keys are appended.
      let keys = container.allKeys.sorted { $0.stringValue.bytesPrecede($1.stringValue) }
      var object = DocumentObject()
      for key in keys { object[key.stringValue] = try container.decode(DocumentValue.self, forKey: key) }
      self = .object(object)
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var values: [DocumentValue] = []
      while !container.isAtEnd { values.append(try container.decode(DocumentValue.self)) }
      self = .array(values)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .int(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = DocumentValue(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }
}
