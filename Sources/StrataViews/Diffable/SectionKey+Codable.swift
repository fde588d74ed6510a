// Coding of section keys, by their values.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import StrataDocuments
internal import StrataTables

/// The form of a value that JSON cannot express, or that would be taken for no value.
private enum ExactKey: String, CodingKey {
  case cbor
  case absent = "nil"
}

/// Any name of a member.
private struct MemberKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// Encoded as the section's value: `"open"`, `7`.
///
/// The section of nil is `{"nil": true}`, so that a property that may have no key is not the same as one with this key.
/// Values for which JSON has no form are encoded as `{"cbor": "BASE64"}`, by every encoder: bytes, NaN and infinities, and
/// integers of documents that do not fit in 64 bits. The key's bytes are not encoded, but made from the value. So an
/// encoder that keeps only a part of a value, such as the whole seconds of a date, keeps the section of that part.
extension SectionKey: Encodable where Value: Encodable {
  public func encode(to encoder: any Encoder) throws {
    switch Exact(value) {
    case .absent?:
      var container = encoder.container(keyedBy: ExactKey.self)
      try container.encode(true, forKey: .absent)
    case .document(let document)?:
      var container = encoder.container(keyedBy: ExactKey.self)
      try container.encode(Data(document.cbor()).base64EncodedString(), forKey: .cbor)
    case nil:
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
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
      let value =
        try Exact(from: decoder)?.value(of: Value.self) ?? decoder.singleValueContainer().decode(Value.self)
      guard let type = Value.self as? any SortKey.Type else {
        throw refusal("\(Value.self) is neither a SortKey nor a DocumentValue, so no list has sections by it")
      }
      key = Self.checked(value, as: type)
    }
    guard let key else { throw refusal("the value is not the section of any row") }
    guard key.bytes.count <= ViewDefinition.sectionLengthMax else {
      throw refusal(
        "the section's key has \(key.bytes.count) bytes, and has no long text that could be shortened to "
          + "\(ViewDefinition.sectionLengthMax)")
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

/// A value that has a form of its own.
private enum Exact {
  /// Nil, or null in a document.
  case absent
  case document(DocumentValue)

  /// Nil if encoders and decoders of JSON keep a value, which is not an array, an object or a tag.
  init?(_ value: some Any) {
    if let document = value as? DocumentValue {
      switch document {
      case .null: self = .absent
      case .double(let number) where !number.isFinite: self = .document(document)
      case .bytes, .bigInt: self = .document(document)
      default: return nil
      }
    } else if let number = value as? Double {
      guard !number.isFinite else { return nil }
      self = .document(.double(number))
    } else if let number = value as? Float {
      guard !number.isFinite else { return nil }
      self = .document(.double(Double(number)))
    } else if let optional = value as? any AnyOptional, optional.isNil {
      self = .absent
    } else {
      return nil
    }
  }

  /// Nil if what is decoded is no object with one member of one of the forms.
  init?(from decoder: any Decoder) throws {
    guard let members = try? decoder.container(keyedBy: MemberKey.self), members.allKeys.count == 1,
      let key = ExactKey(stringValue: members.allKeys[0].stringValue)
    else { return nil }
    let container = try decoder.container(keyedBy: ExactKey.self)
    switch key {
    case .absent:
      guard (try? container.decode(Bool.self, forKey: key)) == true else { return nil }
      self = .absent
    case .cbor:
      guard let text = try? container.decode(String.self, forKey: key) else { return nil }
      guard let data = Data(base64Encoded: text), let value = try? DocumentValue(cbor: [UInt8](data)) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: container, debugDescription: "it is not the Base64 form of one CBOR item")
      }
      self = .document(value)
    }
  }

  /// The value, if it is one of a type that has such a form.
  func value<Value>(of type: Value.Type) -> Value? {
    switch self {
    case .absent: (type as? any AnyOptional.Type)?.none as? Value
    case .document(.double(let number)): number as? Value ?? Float(number) as? Value
    case .document: nil
    }
  }
}

/// An optional of any type.
private protocol AnyOptional {
  static var none: Self { get }
  var isNil: Bool { get }
}

extension Optional: AnyOptional {
  fileprivate var isNil: Bool { self == nil }
}

extension DocumentValue {
  /// Decodes the value of a section.
  fileprivate init(sectionFrom decoder: any Decoder) throws {
    if let exact = try Exact(from: decoder) {
      switch exact {
      case .absent: self = .null
      case .document(let value): self = value
      }
      return
    }
    // Arrays and other objects are the section of no row, whatever is in them.
    if (try? decoder.unkeyedContainer()) != nil {
      self = .array([])
    } else if (try? decoder.container(keyedBy: MemberKey.self)) != nil {
      self = .object([:])
    } else {
      self = try decoder.singleValueContainer().decode(DocumentValue.self)
    }
  }
}
