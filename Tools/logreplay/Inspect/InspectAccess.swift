// Who may ask: a browser that was given the token, for a page of this server.

internal import StrataBase

/// Decides about each request before anything of the store is looked at.
///
/// The server is on the loopback interface, which every program and every page in a browser of this machine can reach. So
/// a request must carry a token that only the person who started the program has seen, must name this server as its host
/// (a name that an attacker resolves to 127.0.0.1 is another one), and must not come from a page of another origin.
///
/// The token is in the address that is printed. Opening it sets a cookie that scripts cannot read and that is not sent
/// from other sites, and redirects to the address without the token, which is then in no history and no bookmark.
public struct InspectAccess: Sendable {
  public let port: Int
  private let token: [UInt8]
  /// Tokens that have not been used yet and set the cookie once.
  private let tokensForOnce = Lock<[[UInt8]]>([])

  /// The bytes of a token; it is twice as long as text.
  private static let tokenLength = 32

  /// Draws a new token from the system.
  public init(port: Int) {
    self.port = port
    token = Self.newToken()
  }

  private static func newToken() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<tokenLength).flatMap { _ in
      let byte = UInt8.random(in: 0...255, using: &generator)
      return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)

  var tokenText: String { String(decoding: token, as: UTF8.self) }

  /// The address to open.
  public var address: String { "http://127.0.0.1:\(port)/?token=\(tokenText)" }

  /// An address that can be opened once: for a command line, which others on this machine may see.
  public func addressForOnce() -> String {
    let token = Self.newToken()
    tokensForOnce.withLock { $0.append(token) }
    return "http://127.0.0.1:\(port)/?token=\(String(decoding: token, as: UTF8.self))"
  }

  /// Cookies do not tell ports apart, so the name does.
  private var cookieName: String { "logreplay-inspect-\(port)" }

  /// What to answer instead of the page; nil if the request may go on.
  func refusal(of request: InspectRequest) -> InspectResponse? {
    let hosts = ["127.0.0.1:\(port)", "[::1]:\(port)", "localhost:\(port)"]
    guard let host = request.header("host"), hosts.contains(host) else { return Self.forbidden }
    if request.has("origin"), request.header("origin") != "http://\(host)" { return Self.forbidden }
    if request.has("sec-fetch-site"),
      !["same-origin", "none"].contains(request.header("sec-fetch-site") ?? "")
    {
      return Self.forbidden
    }
    if hasCookie(request) {
      return request.path == "/" && givenToken(request) != nil ? redirect : nil
    }
    guard request.method == "GET", request.path == "/", let given = givenToken(request),
      isToken(given) || isTokenForOnce(given)
    else {
      return Self.forbidden
    }
    return redirect
  }

  private static let forbidden = InspectResponse.text(
    403, "Open the address that logreplay inspect has printed. It has a token, which this request lacks.")

  private var redirect: InspectResponse {
    InspectResponse(
      303, "text/plain; charset=utf-8", [],
      [
        ("Location", "/"),
        ("Set-Cookie", "\(cookieName)=\(tokenText); Path=/; HttpOnly; SameSite=Strict"),
      ])
  }

  private func givenToken(_ request: InspectRequest) -> Substring? {
    for part in request.query.split(separator: "&") where part.hasPrefix("token=") {
      return part.dropFirst(6)
    }
    return nil
  }

  private func hasCookie(_ request: InspectRequest) -> Bool {
    for field in request.headers where field.name.lowercased() == "cookie" {
      for part in field.value.split(separator: ";") {
        let cookie = part.drop { $0 == " " }
        if cookie.hasPrefix("\(cookieName)="), isToken(cookie.dropFirst(cookieName.count + 1)) { return true }
      }
    }
    return false
  }

  private func isToken(_ given: Substring) -> Bool { Self.isSame(Array(given.utf8), token) }

  private func isTokenForOnce(_ given: Substring) -> Bool {
    let given = Array(given.utf8)
    return tokensForOnce.withLock { tokens in
      guard let index = tokens.firstIndex(where: { Self.isSame(given, $0) }) else { return false }
      tokens.remove(at: index)
      return true
    }
  }

  /// Compares all bytes, whichever differ, so that the time says nothing of them.
  private static func isSame(_ given: [UInt8], _ token: [UInt8]) -> Bool {
    guard given.count == token.count else { return false }
    var difference: UInt8 = 0
    for (a, b) in zip(given, token) { difference |= a ^ b }
    return difference == 0
  }
}

extension InspectResponse {
  /// The fields that every response has: nothing is loaded from elsewhere, kept, framed, guessed or told to others.
  static let protection: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
  ]
}
