// A browser of these tests: requests as values, with the cookie that the address sets.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayInspect

struct InspectClient {
  static let port = 4711
  static let host = (name: "Host", value: "127.0.0.1:\(port)")

  let inspector: Inspector
  let cookie: String
  /// Removed with the last client.
  private let folder: SampleFolder

  init(_ folder: SampleFolder, assets: [String: InspectAsset] = [:]) throws {
    self.folder = folder
    inspector = try Inspector(path: folder.store, port: Self.port, assets: assets)
    let target = try #require(inspector.access.address.split(separator: "\(Self.port)", maxSplits: 1).last)
    let answer = inspector.responseBlocking(to: InspectRequest(target: String(target), headers: [Self.host]))
    let set = answer.headers.first { $0.name == "Set-Cookie" }?.value
    cookie = String(try #require(set?.split(separator: ";").first))
  }

  func response(_ target: String, headers: [(name: String, value: String)]? = nil, method: String = "GET")
    -> InspectResponse
  {
    inspector.responseBlocking(
      to: InspectRequest(
        method: method, target: target, headers: headers ?? [Self.host, ("Cookie", cookie)]))
  }

  func text(_ name: String, _ parameters: KeyValuePairs<String, String> = [:]) throws -> (Int, String) {
    let pairs = parameters.map { "\($0)=\(Self.encoded($1))" }
    let response = response("/api/\(name)?" + pairs.joined(separator: "&"))
    guard case .bytes(let bytes) = response.body else { throw StoreError.closed }
    return (response.status, String(decoding: bytes, as: UTF8.self))
  }

  /// The answer, which must be a good one.
  func get(_ name: String, _ parameters: KeyValuePairs<String, String> = [:]) throws -> DocumentValue {
    let (status, text) = try text(name, parameters)
    #expect(status == 200, "\(name) \(parameters): \(text)")
    return try DocumentValue(json: text)
  }

  /// The error of the answer, and the status.
  func failure(_ name: String, _ parameters: KeyValuePairs<String, String>) throws -> (
    status: Int, error: DocumentValue
  ) {
    let (status, text) = try text(name, parameters)
    return (status, try #require(DocumentValue(json: text)["error"]))
  }

  static func encoded(_ text: String) -> String {
    text.utf8.map { byte in
      let sign = Character(UnicodeScalar(byte))
      return sign.isASCII && (sign.isLetter || sign.isNumber)
        ? String(sign) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }.joined()
  }
}

extension DocumentValue {
  var list: [DocumentValue] { if case .array(let values) = self { Array(values) } else { [] } }
  var number: Int {
    switch self {
    case .int(let number): Int(number)
    case .uint(let number): Int(number)
    default: -1
    }
  }
  var string: String { if case .string(let text) = self { text } else { "" } }

  /// The lines that the page shows of what `logreplay at -o json` prints: a heading for each section, and its items.
  func lines(sectioned: Bool) -> [String] {
    var lines: [String] = []
    for section in self["sections"]?.list ?? [] {
      if sectioned { lines.append("\(section["section"]!.json()) \(section["count"]!.number)") }
      for item in section["items"]?.list ?? [] { lines.append(Self.line(item)) }
    }
    return lines
  }

  /// The same of a window.
  var windowLines: [String] {
    (self["window"]?.list ?? []).map { line in
      line["id"] == nil ? "\(line["section"]!.json()) \(line["count"]!.number)" : Self.line(line)
    }
  }

  private static func line(_ item: DocumentValue) -> String {
    "\(item["id"]!.string) \(item["revision"]!.number) \(item["fields"]!.json())"
  }
}

extension SampleFolder {
  /// A closed store of random appends to the tables `incident` and `other`, of one to three events each, at times that are
  /// mostly a minute apart.
  static func random(_ random: inout SeededGenerator, appends: Int) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    var time: Int64 = 1_700_000_000
    for _ in 0..<appends {
      time += Bool.random(using: &random) ? 60 : Int64.random(in: 0...600, using: &random)
      let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.event(&random) }
      try await store.append(events, time: Timestamp(nanoseconds: time * 1_000_000_000))
    }
    try await store.close()
    return folder
  }

  private static func event(_ random: inout SeededGenerator) -> NewEvent {
    let id = "i\(Int.random(in: 0..<12, using: &random))"
    let status = ["Open", "Closed", "Queued"].randomElement(using: &random)!
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return NewEvent("$delete", in: StreamName(category: "incident", id: id), .null)
    case 1: return NewEvent("$put", in: StreamName(category: "other", id: id), ["status": .string(status)])
    case 2, 3:
      return NewEvent("$merge", in: StreamName(category: "incident", id: id), ["status": .string(status)])
    default:
      return NewEvent(
        "$put", in: StreamName(category: "incident", id: id),
        ["status": .string(status), "n": .int(Int64.random(in: 0..<5, using: &random))],
        metadata: ["by": .string(["ann", "bob"].randomElement(using: &random)!)])
    }
  }
}
