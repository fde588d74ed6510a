// Coding of section keys, by their values.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import StrataDocuments
internal import StrataTables

/// The form of a document's value that JSON cannot express.
private enum ExactKey: String, CodingKey {
  case cbor
}

/// Encoded as the section's value: `"open"`, `7`, `null`.
///
/// Values of documents for which JSON has no form are encoded as `{"cbor": "BASE64"}`, by every encoder: bytes, NaN and
/// infinities, and integers that do not fit in 64 bits. The key's bytes are not encoded, but made from the value. So an
/// encoder that keeps only a part of a value, such as the whole seconds of a date, keeps the section of that part.
extension SectionKey: Encodable where Value: Encodable {
  public func encode(to encoder: any Encoder) throws {
    if let document = value as? DocumentValue, !document.isExactInJSON {
      var container = encoder.container(keyedBy: ExactKey.self)
      try container.encode(Data(document.cbor()).base64EncodedString(), forKey: .cbor)
      return
    }
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension SectionKey: Decodable where Value: Decodable {
  /// Decodes a key. Throws `DecodingError` if the value is the section of no row: an array, an object, or one whose key
  /// is longer than 32,000 bytes.
  public init(from decoder: any Decoder) throws {
    func refusal(_ what: String) -> DecodingError {
      .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: what))
    }
    let key: Self?
    if Value.self == DocumentValue.self {
      do {
        key = try SectionKey<DocumentValue>(DocumentValue(sectionFrom: decoder)) as? Self
      } catch let error as SortKeyError {
        throw refusal("\(error)")
      }
    } else {
      let value = try decoder.singleValueContainer().decode(Value.self)
      guard let type = Value.self as? any SortKey.Type else {
        throw refusal("\(Value.self) is neither a SortKey nor a DocumentValue, so no list has sections by it")
      }
      key = Self.checked(value, as: type)
    }
    guard let key else { throw refusal("the value is not the section of any row") }
    guard key.bytes.count <= ViewDefinition.keyLengthMax else {
      throw refusal(
        "the section's key has \(key.bytes.count) bytes, and a row's key at most \(ViewDefinition.keyLengthMax)"
      )
    }
    self = key
  }

  /// The key of a value whose type is known to be a sort key only here; nil if a list could not read the value back.
  private static func checked<Key: SortKey>(_ value: Value, as type: Key.Type) -> Self? {
    guard let key = value as? Key else { return nil }
    let bytes = bytes(of: key)
    let isRead = bytes.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return (try? Key(from: &reader)) != nil
    }
    return isRead ? Self(value: value, bytes: bytes) : nil
  }
}

extension DocumentValue {
  /// Whether encoders and decoders of JSON keep this value, which is not an array, an object or a tag.
  fileprivate var isExactInJSON: Bool {
    switch self {
    case .double(let number): number.isFinite
    case .bytes, .bigInt: false
    default: true
    }
  }

  /// Decodes the value of a section.
  fileprivate init(sectionFrom decoder: any Decoder) throws {
    self = try decoder.singleValueContainer().decode(DocumentValue.self)
    // No section is an object, so this one is the form of another value.
    guard case .object(let object) = self, object.count == 1, let form = object[ExactKey.cbor.rawValue] else {
      return
    }
    guard case .string(let text) = form, let data = Data(base64Encoded: text),
      let value = try? DocumentValue(cbor: [UInt8](data))
    else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath + [ExactKey.cbor],
          debugDescription: "it is not the Base64 form of one CBOR item"))
    }
    self = value
  }
}
