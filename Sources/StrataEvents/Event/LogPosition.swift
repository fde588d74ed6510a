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

  public init?(_ text: String) {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.count == 16, let sequence = UInt64(parts[0]),
      let chain = UInt64(parts[1], radix: 16)
    else { return nil }
    self.init(sequence: sequence, chain: chain)
  }

  /// A chain value as 16 hex digits.
  package static func hex(_ chain: UInt64) -> String {
    let digits = String(chain, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
