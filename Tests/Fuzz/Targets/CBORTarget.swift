// CBOR: documents, the reader below them, diagnostic notation, Codable, and what JSON says of each.

internal import StrataDocuments
internal import StrataEvents

enum CBORTarget {
  /// A type with every kind of member that the decoder knows.
  private struct Sample: Codable, Equatable {
    var a: Int?
    var b: Double?
    var c: String?
    var d: [Sample]?
    var e: [String: Bool]?
    var f: [UInt8]?
    var g: UInt64?
    var h: DocumentValue?
    var i: Float?
    var j: [Int16?]?
  }

  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    let isDeterministic = CBORReader.isDeterministic(bytes)
    let text = try? CBORReader.diagnosticNotation(of: bytes)
    let isSkipped = bytes.withUnsafeBytes { buffer in
      var reader = CBORReader(buffer)
      return (try? reader.skip()) != nil && reader.isAtEnd
    }
    if text != nil { try law(isSkipped, "what is shown cannot be skipped") }
    if isDeterministic { try law(isSkipped, "deterministic, and cannot be skipped") }
    if let value = try? DocumentValue(cbor: bytes) {
      try law(text != nil && isSkipped, "a document that is no item")
      let written = value.cbor()
      if isDeterministic { try law(written == bytes, "deterministic bytes are written otherwise") }
      try document(value, written)
    }
    if let sample = try? CBORDecoder().decode(Sample.self, from: bytes) { try codable(sample) }
    try patch(bytes)
  }

  /// A document is written in one way, and reads back.
  static func document(_ value: DocumentValue, _ written: [UInt8]) throws(BrokenLaw) {
    try law(CBORReader.isDeterministic(written), "what is written is not deterministic: \(value)")
    guard let again = try? DocumentValue(cbor: written) else {
      throw BrokenLaw("what is written cannot be read: \(value)")
    }
    try law(again == value && again.hashValue == value.hashValue, "\(value) reads back as \(again)")
    try law(again.cbor() == written, "written twice, in two ways: \(value)")
    try JSONTarget.text(value)
  }

  private static func codable(_ sample: Sample) throws(BrokenLaw) {
    do {
      let written = try CBOREncoder().encode(sample)
      let again = try CBORDecoder().decode(Sample.self, from: written)
      try law(try CBOREncoder().encode(again) == written, "a value is written in two ways")
    } catch let error as BrokenLaw {
      throw error
    } catch {
      throw BrokenLaw("a value that was decoded: \(error)")
    }
  }

  /// A merge patch between two documents makes the second of the first.
  private static func patch(_ bytes: [UInt8]) throws(BrokenLaw) {
    let first = bytes.withUnsafeBytes { buffer -> (DocumentValue, DocumentValue)? in
      var reader = CBORReader(buffer)
      guard let a = try? reader.readDocument(), let b = try? reader.readDocument() else { return nil }
      return (a, b)
    }
    guard let (old, new) = first, let patch = DocumentValue.mergePatch(from: old, to: new) else { return }
    try law(old.applying(mergePatch: patch) == new, "the patch \(patch) makes no \(new) of \(old)")
  }
}
