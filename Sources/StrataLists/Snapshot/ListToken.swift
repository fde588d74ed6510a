// A position in a list's history, as a value that outlives the process.

internal import StrataBase
public import StrataEvents
package import StrataLog

/// A store, and the end of an append in its log, from which `controller.updates(since:)` resumes.
///
/// The chain proves that the log up to that point is the one that was seen. A token does not contain the request; the
/// previous list is rebuilt with the request that is in force when the token is used.
public struct ListToken: Hashable, Sendable {
  package let storeID: StoreID
  /// Everything up to this sequence has been seen.
  package let sequence: UInt64
  package let chain: UInt64

  package init(storeID: StoreID, sequence: UInt64, chain: UInt64) {
    self.storeID = storeID
    self.sequence = sequence
    self.chain = chain
  }

  /// The id of the token's store.
  public var store: String { storeID.description }
  /// The same position for a feed of the store.
  public var position: LogPosition { LogPosition(sequence: sequence, chain: chain) }
}

extension ListToken: LosslessStringConvertible {
  /// `STORE/SEQUENCE@CHAIN`: the store's UUID, and the position as feeds write it.
  public var description: String { "\(store)/\(position)" }

  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let store = Self.storeID(parts[0]), let position = LogPosition(String(parts[1]))
    else { return nil }
    self.init(storeID: store, sequence: position.sequence, chain: position.chain)
  }

  /// Parses a store's id, which must have the canonical form.
  private static func storeID(_ text: Substring) -> StoreID? {
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    guard digits.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for offset in stride(from: 0, to: 32, by: 2) {
      let pair = String(decoding: digits[offset..<offset + 2], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { return nil }
      bytes.append(byte)
    }
    let id = bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { StoreID(at: $0) } }
    guard let id, id.description.utf8.elementsEqual(text.utf8) else { return nil }
    return id
  }
}

extension ListToken: Codable {
  /// Reads the text form. Throws `DecodingError.dataCorrupted` for anything else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let token = ListToken(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a list token")
    }
    self = token
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// Where the token of a snapshot is from.
package enum ListTokenSource: Sendable {
  case known(ListToken?)
  case later(LaterToken)

  var token: ListToken? {
    switch self {
    case .known(let token): token
    case .later(let later): later.token
    }
  }
}

/// A token that is found when it is first asked for. For the chain after an event, the log's block that has the event is
/// read and hashed: that took a sixth of the time of a first page of a kept list at a point of the past.
package final class LaterToken: Sendable {
  private let found = Lock<ListToken?>(nil)
  private let find: @Sendable () -> ListToken?

  /// - Parameter find: called until it finds the token. May block.
  package init(_ find: @escaping @Sendable () -> ListToken?) { self.find = find }

  var token: ListToken? {
    if let token = found.withLock({ $0 }) { return token }
    guard let token = find() else { return nil }
    found.withLock { $0 = token }
    return token
  }
}
