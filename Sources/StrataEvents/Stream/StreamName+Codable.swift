// The name of a stream in a document or in JSON.

internal import StrataLog

/// Encoded as its text, one string.
///
/// What an append would refuse as the name of a stream is neither encoded nor decoded, so a name that was read can be
/// appended to.
extension StreamName: Codable {
  /// Reads a name. Throws `DecodingError.dataCorrupted` if the text is empty or longer than 1,024 bytes of UTF-8.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    self.init(try container.decode(String.self))
    if let problem {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
    }
  }

  /// Writes the name. Throws `EncodingError.invalidValue` if it is empty or longer than 1,024 bytes of UTF-8.
  public func encode(to encoder: any Encoder) throws {
    if let problem {
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }

  /// Why an append refuses the name; nil if it does not.
  private var problem: String? {
    do throws(StoreError) { try check() } catch { return "this is not the name of a stream: \(error.what)" }
    return nil
  }
}
