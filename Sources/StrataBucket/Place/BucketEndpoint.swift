// Where the servers of an object store are: a scheme, a host and a port.

/// The address of an object store.
struct BucketEndpoint: Sendable, Equatable {
  let isEncrypted: Bool
  /// The host, and the port if it is not the scheme's own.
  let authority: String

  var text: String { (isEncrypted ? "https://" : "http://") + authority }

  /// Where Amazon has the buckets of a region.
  static func amazon(_ region: String) -> BucketEndpoint {
    BucketEndpoint(
      isEncrypted: true, authority: "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : ""))
  }

  var isNumeric: Bool {
    authority.hasPrefix("[") || authority.prefix { $0 != ":" }.utf8.allSatisfy { $0 < 0x3A }
  }

  init(isEncrypted: Bool, authority: String) {
    self.isEncrypted = isEncrypted
    self.authority = authority
  }

  /// Reads `http://HOST:PORT` or `https://HOST`; nil for anything else, such as user names and paths.
  init?(_ text: String) {
    let text = text.hasSuffix("/") ? text.dropLast() : text[...]
    if text.hasPrefix("https://") {
      isEncrypted = true
      authority = String(text.dropFirst("https://".count))
    } else if text.hasPrefix("http://") {
      isEncrypted = false
      authority = String(text.dropFirst("http://".count))
    } else {
      return nil
    }
    guard Self.isAuthority(Array(authority.utf8)) else { return nil }
  }

  private static func isAuthority(_ text: [UInt8]) -> Bool {
    var rest = text[...]
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")), end > 2 else { return false }
      guard rest[1..<end].allSatisfy({ $0.isLetterOrDigit || ":.".utf8.contains($0) }) else { return false }
      rest = rest[(end + 1)...]
    } else {
      let host = rest.prefix { $0 != UInt8(ascii: ":") }
      guard !host.isEmpty, host.count <= 255,
        host.allSatisfy({ $0.isLetterOrDigit || "-.".utf8.contains($0) })
      else { return false }
      rest = rest[host.endIndex...]
    }
    guard let colon = rest.first else { return true }
    let port = rest.dropFirst()
    return colon == UInt8(ascii: ":") && port.allSatisfy { $0 < 0x3A }
      && UInt16(String(decoding: port, as: UTF8.self)).map { $0 > 0 } == true
  }
}
