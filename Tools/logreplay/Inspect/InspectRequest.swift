// What a browser asks, and what it gets: values that know no socket.

/// A request as it came in.
public struct InspectRequest: Sendable {
  public var method: String
  /// The path and the query, as they were sent.
  public var target: String
  /// Every field of the head, in order.
  public var headers: [(name: String, value: String)]

  public init(method: String = "GET", target: String, headers: [(name: String, value: String)] = []) {
    (self.method, self.target, self.headers) = (method, target, headers)
  }

  /// The only value of a field; nil if it is missing or there are several.
  func header(_ name: String) -> String? {
    let values = headers.filter { $0.name.lowercased() == name }
    return values.count == 1 ? values[0].value : nil
  }

  func has(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }

  var path: Substring { target.prefix { $0 != "?" } }

  var query: Substring {
    guard let mark = target.firstIndex(of: "?") else { return "" }
    return target[target.index(after: mark)...]
  }
}

/// What is sent back.
public struct InspectResponse: Sendable {
  public enum Body: Sendable {
    case bytes([UInt8])
    /// Server-sent events that go on until the reader goes.
    case feed
  }

  public var status: Int
  public var headers: [(name: String, value: String)]
  public var body: Body

  init(_ status: Int, _ type: String, _ bytes: [UInt8], _ headers: [(name: String, value: String)] = []) {
    self.status = status
    self.headers = [("Content-Type", type)] + headers
    body = .bytes(bytes)
  }

  static func json(_ bytes: [UInt8], status: Int = 200) -> InspectResponse {
    InspectResponse(status, "application/json", bytes)
  }

  static func text(_ status: Int, _ text: String) -> InspectResponse {
    InspectResponse(status, "text/plain; charset=utf-8", Array("\(text)\n".utf8))
  }

  static var feed: InspectResponse {
    var response = InspectResponse(200, "text/event-stream", [])
    response.body = .feed
    return response
  }
}

/// A file of the page.
public struct InspectAsset: Sendable {
  public var type: String
  public var bytes: [UInt8]

  public init(type: String, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }
}
