// A position in the log, as a value that outlives the process.

/// A position in the log, at the end of an append: a sequence, and the chain value that identifies the log up to it.
public struct LogPosition: Sendable, Hashable {
  /// The last sequence before this position; 0 at the beginning of the log.
  public var sequence: UInt64
  /// The chain value after that sequence.
  package var chain: UInt64

  package init(sequence: UInt64, chain: UInt64) {
    self.sequence = sequence
    self.chain = chain
  }
}

extension LogPosition: LosslessStringConvertible {
  /// `SEQUENCE@CHAIN`, the chain in 16 hex digits.
  public var description: String { "\(sequence)@\(Self.hex(chain))" }

  /// Parses what `description` returns. Nil for anything else, also for numbers with a sign.
  public init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    // A number that is parsed may begin with a sign.
    guard parts.count == 2, parts[1].utf8.count == 16, !text.utf8.contains(where: "+-".utf8.contains),
      let sequence = UInt64(parts[0]), let chain = UInt64(parts[1], radix: 16)
    else { return nil }
    self.init(sequence: sequence, chain: chain)
  }

  /// A chain value as 16 hex digits.
  package static func hex(_ chain: UInt64) -> String {
    let digits = String(chain, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}

/// Encoded as its text, `SEQUENCE@CHAIN`: one string, which every later version reads.
extension LogPosition: Codable {
  /// Reads the text form. Throws `DecodingError.dataCorrupted` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let position = LogPosition(text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "'\(text.shortened(within: 100))' is not a position in a log, SEQUENCE@CHAIN")
    }
    self = position
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
