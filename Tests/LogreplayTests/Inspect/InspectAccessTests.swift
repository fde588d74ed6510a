// Who is answered by the inspector, and what every answer says to a browser.

import Foundation
import Strata
import StrataDocuments
import Testing

@testable import LogreplayInspect

struct InspectAccessTests {
  private static let page = ["/": InspectAsset(type: "text/html", bytes: Array("<p>".utf8))]

  private static func client() async throws -> InspectClient {
    try InspectClient(try await SampleFolder.list(), assets: page)
  }

  private static let paths = [
    "/", "/style.css", "/main.js", "/api/store", "/api/list", "/api/feed", "/api/", "/nothing", "//", "/?x",
    "*", "",
    "http://127.0.0.1/api/store", "/?token=", "/?token=0", "/api/store?token=",
  ]

  @Test func `nothing is answered without the token, whatever the path`() async throws {
    let client = try await Self.client()
    let token = try #require(client.cookie.split(separator: "=").last)
    for path in Self.paths {
      for cookie in [
        nil, "", "x=1", "logreplay-inspect-4711=", client.cookie.dropLast() + "", client.cookie + "0",
      ] {
        let headers = [InspectClient.host] + (cookie.map { [("Cookie", $0)] } ?? [])
        for method in ["GET", "POST", "OPTIONS"] {
          let response = client.response(path, headers: headers, method: method)
          #expect(response.status == 403, "\(method) \(path) \(cookie ?? "")")
        }
      }
    }
    // The token opens the page, and nothing else.
    for path in [
      "/api/store?token=\(token)", "/style.css?token=\(token)", "/?token=\(token)0", "/?Token=\(token)",
    ] {
      #expect(client.response(path, headers: [InspectClient.host]).status == 403, "\(path)")
    }
    #expect(
      client.response("/?token=\(token)", headers: [InspectClient.host], method: "POST").status == 403)
    #expect(client.response("/").status == 200)
    #expect(client.response("/api/store").status == 200)
    #expect(client.response("/nothing").status == 404)
  }

  @Test
  func `the address sets a cookie that no script and no other site has, and leads to one without the token`()
    async throws
  {
    let client = try await Self.client()
    let token = try #require(client.cookie.split(separator: "=").last)
    #expect(token.count == 64)
    for headers in [[InspectClient.host], [InspectClient.host, ("Cookie", client.cookie)]] {
      let response = client.response("/?token=\(token)", headers: headers)
      #expect(response.status == 303)
      #expect(response.headers.first { $0.name == "Location" }?.value == "/")
      #expect(
        response.headers.first { $0.name == "Set-Cookie" }?.value
          == "\(client.cookie); Path=/; HttpOnly; SameSite=Strict")
    }
    #expect(try InspectClient(try await SampleFolder.list()).cookie != client.cookie)
  }

  @Test func `an address for once opens the page once`() async throws {
    let client = try await Self.client()
    let address = client.inspector.access.addressForOnce()
    let target = String(try #require(address.split(separator: "4711", maxSplits: 1).last))
    #expect(client.response(target, headers: [InspectClient.host]).status == 303)
    #expect(client.response(target, headers: [InspectClient.host]).status == 403)
    #expect(address != client.inspector.access.address)
  }

  @Test(arguments: [
    ["Host": "evil.example:4711"], ["Host": "127.0.0.1:80"], ["Host": "127.0.0.1"], [:],
    ["Host": "127.0.0.1:4711.evil.example"],
    ["Host": "127.0.0.1:4711", "Origin": "http://evil.example"],
    ["Host": "127.0.0.1:4711", "Origin": "http://localhost:4711"],
    ["Host": "127.0.0.1:4711", "Origin": "null"],
    ["Host": "127.0.0.1:4711", "Sec-Fetch-Site": "cross-site"],
    ["Host": "127.0.0.1:4711", "Sec-Fetch-Site": "same-site"],
  ])
  func `a request to another name, or from a page of another origin, is refused`(headers: [String: String])
    async throws
  {
    let client = try await Self.client()
    let given = headers.map { (name: $0.key, value: $0.value) } + [("Cookie", client.cookie)]
    #expect(client.response("/api/store", headers: given).status == 403)
    #expect(
      client.response(String(client.inspector.access.address.dropFirst(21)), headers: given).status == 403)
  }

  @Test func `a header that is there twice is none`() async throws {
    let client = try await Self.client()
    let hosts = [InspectClient.host, (name: "Host", value: "evil.example"), ("Cookie", client.cookie)]
    #expect(client.response("/", headers: hosts).status == 403)
  }

  @Test func `the names of this machine are taken, and the page's own requests`() async throws {
    let client = try await Self.client()
    for host in ["127.0.0.1:4711", "[::1]:4711", "localhost:4711"] {
      let headers = [
        ("host", host), ("origin", "http://\(host)"), ("sec-fetch-site", "same-origin"),
        ("cookie", "a=b; \(client.cookie)"),
      ].map { (name: $0.0, value: $0.1) }
      #expect(client.response("/api/store", headers: headers).status == 200, "\(host)")
    }
  }

  @Test func `only GET is answered`() async throws {
    let client = try await Self.client()
    for method in ["POST", "PUT", "DELETE", "HEAD", "get"] {
      #expect(client.response("/api/store", method: method).status == 405)
    }
  }

  @Test func `every answer keeps a browser from loading, framing, guessing and remembering`() async throws {
    let client = try await Self.client()
    for response in [
      client.response("/"), client.response("/", headers: []), client.response("/nothing"),
      client.response("/api/list?at=x"), client.response("/api/feed"),
      client.response("/" + String(repeating: "x", count: 9000)),
    ] {
      let values = Dictionary(response.headers.map { ($0.name, $0.value) }) { $0 + $1 }
      let policy = try #require(values["Content-Security-Policy"])
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
      #expect(!policy.contains("unsafe") && !policy.contains("*"))
      #expect(
        policy.contains("frame-ancestors 'none'") && policy.contains("require-trusted-types-for 'script'"))
      #expect(values["X-Content-Type-Options"] == "nosniff" && values["Cache-Control"] == "no-store")
      #expect(values["Referrer-Policy"] == "no-referrer" && values["X-Frame-Options"] == "DENY")
      #expect(values["Access-Control-Allow-Origin"] == nil)
    }
  }

  // MARK: Limits

  @Test func `a long address, a long head and many parameters are refused`() async throws {
    let client = try await Self.client()
    #expect(client.response("/" + String(repeating: "x", count: 8192)).status == 414)
    let long = (name: "X", value: String(repeating: "x", count: 16_384))
    #expect(client.response("/", headers: [InspectClient.host, long]).status == 431)
    #expect(client.response("/api/store?" + String(repeating: "a=1&", count: 40)).status == 200)
    #expect(client.response("/api/store?" + String(repeating: "a=1&", count: 41)).status == 400)
    for query in ["a=%zz", "a=%4", "a=%", "%ff=1", "a=%c3"] {
      #expect(client.response("/api/store?\(query)").status == 400, "\(query)")
    }
  }

  @Test(arguments: [
    ("list", "count", "501"), ("list", "count", "-1"), ("list", "offset", "x"),
    ("list", "offset", "99999999999"),
    ("diff", "count", "2001"), ("events", "count", "201"), ("events", "count", "0"),
    ("events", "before", "-3"),
    ("histogram", "columns", "401"), ("histogram", "columns", "0"),
    ("histogram", "after", "18446744073709551616"),
    ("list", "step", "sideways"), ("check", "depth", "abyss"),
  ])
  func `a number beyond its limit is a mistake that names it`(name: String, parameter: String, value: String)
    async throws
  {
    let (status, error) = try await Self.client().failure(name, [parameter: value])
    #expect(status == 400 && error["where"] == .string(parameter), "\(error)")
  }

  @Test func `more pages than a few cannot follow the store, until one of them goes`() async throws {
    let client = try await Self.client()
    var feeds: [AsyncStream<[UInt8]>] = []
    for _ in 0..<InspectLimits.feedCountMax { feeds.append(try #require(client.inspector.feed())) }
    #expect(client.inspector.feed() == nil)
    feeds.removeLast()
    // The end of a stream is noticed where its last reference goes.
    var iterator = feeds[0].makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(String(decoding: first, as: UTF8.self).hasPrefix("event: head\ndata: {\"sequence\":8,"))
    #expect(client.inspector.feed() != nil)
  }
}
