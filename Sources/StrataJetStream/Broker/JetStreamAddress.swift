// Where a copy is: servers, the copy's name, and how many replicas its streams have.

internal import StrataReplica

/// A URL of a copy in JetStream: `nats://HOST:PORT,HOST2:PORT2/NAME?replicas=3`.
///
/// Users, passwords and tokens in a URL are taken out of it when it is read: no text of this type has them.
struct JetStreamAddress: Equatable, Sendable {
  /// A server of the cluster.
  struct Server: Equatable, Sendable {
    /// A name or an address; an address of IPv6 without its brackets.
    let host: String
    let port: UInt16

    var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  }

  static let portDefault: UInt16 = 4222
  static let replicasDefault = 3
  static let replicasKnown = [1, 3, 5]
  static let serversMax = 16
  static let nameLengthMax = 64

  let isTLS: Bool
  let servers: [Server]
  /// The copy: letters, digits, `-` and `_`.
  let copy: String
  let replicas: Int

  /// The URL without secrets. It reads back as this address.
  var text: String {
    let query = replicas == Self.replicasDefault ? "" : "?replicas=\(replicas)"
    return "\(isTLS ? "tls" : "nats")://\(servers.map(\.text).joined(separator: ","))/\(copy)\(query)"
  }

  /// Reads a URL.
  ///
  /// - Returns: the address, and what the URL says of the user, if anything.
  static func parse(_ text: String) throws(CarrierError) -> (JetStreamAddress, JetStreamCredentials?) {
    let isTLS = text.hasPrefix("tls://")
    guard isTLS || text.hasPrefix("nats://") else { throw wrong("it does not begin with nats:// or tls://") }
    var rest = text.dropFirst(isTLS ? 6 : 7)
    let queryBegin = rest.firstIndex(of: "?")
    let query = queryBegin.map { rest[rest.index(after: $0)...] }
    if let queryBegin { rest = rest[..<queryBegin] }
    // A password may have any character but these two, if it is written with percent signs.
    guard let slash = rest.lastIndex(of: "/") else { throw wrong("it names no copy") }
    let copy = rest[rest.index(after: slash)...]
    guard isName(copy) else {
      throw wrong("the name of the copy has other characters than letters, digits, - and _, or is too long")
    }
    var (servers, credentials): ([Server], JetStreamCredentials?) = ([], nil)
    for part in rest[..<slash].split(separator: ",", omittingEmptySubsequences: false) {
      var part = part
      if let at = part.lastIndex(of: "@") {
        credentials = try user(part[..<at])
        part = part[part.index(after: at)...]
      }
      guard servers.count < serversMax else { throw wrong("it names more than \(serversMax) servers") }
      servers.append(try server(part))
    }
    return (
      JetStreamAddress(
        isTLS: isTLS, servers: servers, copy: String(copy), replicas: try replicas(query)), credentials
    )
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.count <= nameLengthMax
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private static func server(_ text: Substring) throws(CarrierError) -> Server {
    var (host, port): (Substring, Substring?) = (text, nil)
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else {
        throw wrong("a server has more than a host and a port")
      }
      if !rest.isEmpty { port = rest.dropFirst() }
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    let isHost =
      !host.isEmpty && host.utf8.count <= 253
      && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\"\\".utf8.contains($0) }
    guard isHost else { throw wrong("a server has no host") }
    guard let port else { return Server(host: String(host), port: portDefault) }
    guard port.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = UInt16(port), number > 0 else {
      throw wrong("the port of a server is no number up to 65535")
    }
    return Server(host: String(host), port: number)
  }

  private static func user(_ text: Substring) throws(CarrierError) -> JetStreamCredentials {
    guard let colon = text.firstIndex(of: ":") else { return .token(try unescaped(text)) }
    return .user(try unescaped(text[..<colon]), password: try unescaped(text[text.index(after: colon)...]))
  }

  private static func replicas(_ query: Substring?) throws(CarrierError) -> Int {
    guard let query else { return replicasDefault }
    guard query.hasPrefix("replicas="), let count = Int(query.dropFirst("replicas=".count)),
      replicasKnown.contains(count)
    else { throw wrong("what follows the question mark is not replicas=1, replicas=3 or replicas=5") }
    return count
  }

  /// A text without percent signs.
  private static func unescaped(_ text: Substring) throws(CarrierError) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      else { throw wrong("a percent sign is not followed by two digits") }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw wrong("the user is no text")
    }
    return text
  }

  /// What is wrong with a URL, which is not repeated: it may have a password.
  private static func wrong(_ what: String) -> CarrierError {
    CarrierError(
      .unfit, what: "the URL of the copy cannot be used: \(what)",
      next: "write nats://HOST:PORT,HOST2:PORT2/NAME, with ?replicas=1 only if one replica is enough")
  }
}
