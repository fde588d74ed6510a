// What an append came to.

package import StrataLog

/// The answer to an append that is as durable as the store was opened for.
public struct AppendReceipt: Sendable, Hashable {
  /// The sequences of its events.
  public var sequences: ClosedRange<UInt64>
  /// The commit time.
  public var time: Timestamp
  /// True where an append with this id was in the log already, and nothing was appended now.
  public var wasKnown: Bool
  /// The store that it was appended to.
  package let storeID: StoreID

  /// The id of the store that it was appended to.
  public var store: String { storeID.description }
}

/// A place at the end of an append: everything up to a sequence, with the chain that proves it.
public struct LogPosition: Sendable, Hashable {
  /// The last sequence before this place; 0 before everything.
  public var sequence: UInt64
  /// The chain behind it.
  public var chain: UInt64

  public init(sequence: UInt64, chain: UInt64) {
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

  /// A chain as it is written in text.
  package static func hex(_ chain: UInt64) -> String {
    let digits = String(chain, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
