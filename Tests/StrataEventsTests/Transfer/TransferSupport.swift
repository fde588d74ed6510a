// What the tests of exports share: random stores with everything that a chain covers, and lines in and out.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// Stores on simulated disks, filled at random.
enum TransferStores {
  static let root = "/store"

  static func options(blockSize: Int = 1 << 10, salts: Bool = false) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 12_000
    options.blockSizeTarget = blockSize
    options.saltsEvents = salts
    options.headSyncInterval = .seconds(3_600)
    return options
  }

  static func open(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> EventStore {
    try EventStore.open(disk, path: root, .readWrite, options: options)
  }

  /// Random appends: with ids and without, with times that go back, salted, of every codec and of unknown ones, with
  /// payloads that JSON gives back and others. Some events are erased in the end.
  static func random(
    _ random: inout StrataSimulation.SeededGenerator, appends: Int = 60, erases: Bool = true
  ) throws -> EventStore {
    let store = try open(SimulatedDisk(), options(salts: Bool.random(using: &random)))
    var makers = TransferAppends(random: random.split())
    for number in 0..<appends { _ = try store.log.appendBlocking(makers.append(number)) }
    guard erases else { return store }
    let last = store.head.sequence
    for number in 0..<Int.random(in: 0...2, using: &random) {
      let first = UInt64.random(in: 1...last, using: &random)
      try store.eraseBlocking(
        Erasure(sequences: [first...min(last, first + 3)], because: "at random"))
      _ = try store.log.appendBlocking(makers.append(appends + number))
    }
    return store
  }

  static func lines(_ store: EventStore, from start: LogPoint = .beginning, to end: LogPoint = .head) throws
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    try store.exportBlocking(from: start, to: end) { bytes += $0 }
    return bytes
  }

  @discardableResult
  static func take(
    _ bytes: [UInt8], into store: EventStore, source: String? = nil, piece: Int = 1 << 20
  ) throws -> ImportedEvents {
    var begin = 0
    return try store.importEventsBlocking(source: source) {
      guard begin < bytes.count else { return nil }
      defer { begin = min(bytes.count, begin + piece) }
      return Array(bytes[begin..<min(bytes.count, begin + piece)])
    }
  }

  /// The chain after each event.
  static func chains(_ store: EventStore) throws -> [UInt64?] {
    try (0...store.log.mark.sequence).map { try store.log.chain(after: $0) }
  }

  static func appends(_ store: EventStore) async throws -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    for try await append in store.feed(of: .all.includingInternal(), until: .caughtUp) {
      appends.append(append)
    }
    return appends
  }
}

/// A source of random appends.
struct TransferAppends {
  var random: StrataSimulation.SeededGenerator

  mutating func append(_ number: Int) throws -> AppendDraft {
    let draft = AppendDraft()
    if Bool.random(using: &random) {
      // An id is bytes, and some are no text.
      draft.id = Array("append-\(number)".utf8) + (Int.random(in: 0..<5, using: &random) == 0 ? [0xFF] : [])
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: draft.given = nil
    case 1: draft.given = Int64.random(in: (Int64.min + 1)...0, using: &random)
    default: draft.given = 1_800_000_000_000_000_000 + Int64.random(in: 0...9_999_999_999_999, using: &random)
    }
    // A recovered log has commit times that were raised to those of appends which it does not have.
    if let given = draft.given, given > 0, Int.random(in: 0..<6, using: &random) == 0 {
      draft.committed = given + Int64.random(in: 0...9_999_999_999, using: &random)
    }
    let isSalted = Int.random(in: 0..<3, using: &random) == 0
    draft.isErasable = isSalted
    for _ in 0..<(Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 2...5, using: &random) : 1) {
      let salt = isSalted ? (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) } : []
      let (codec, payload) = content()
      add(
        stream: ["a/\(number % 7)", "\"é\\\u{1}/x", "$consumer/c", "漢"].randomElement(using: &random)!,
        type: ["opened", "$put", "tab\there"].randomElement(using: &random)!, codec, salt, metadata(),
        payload,
        to: draft)
    }
    return draft
  }

  private func add(
    stream: String, type: String, _ codec: UInt64, _ salt: [UInt8], _ metadata: [UInt8], _ payload: [UInt8],
    to draft: AppendDraft
  ) {
    Array(stream.utf8).withUnsafeBytes { stream in
      Array(type.utf8).withUnsafeBytes { type in
        salt.withUnsafeBytes { salt in
          metadata.withUnsafeBytes { metadata in
            payload.withUnsafeBytes { payload in
              draft.add(
                stream: stream, type: type, codec: codec, salt: salt, metadata: metadata, payload: payload)
            }
          }
        }
      }
    }
  }

  private mutating func document(isJSON: Bool) -> DocumentValue {
    var documents = SeededGenerator(seed: random.next())
    return DocumentRecipe(depth: 3, isJSON: isJSON).document(using: &documents)
  }

  private mutating func content() -> (UInt64, [UInt8]) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return (1, document(isJSON: false).cbor())
    case 1: return (1, [])
    case 2:
      return (
        1,
        [[0x1B, 0, 0, 0, 0, 0, 0, 0, 1], [0xFF], [0xF7], [0xFB] + [UInt8](repeating: 0, count: 8)]
          .randomElement(using: &random)!
      )
    case 3:
      let texts = [
        "{\"a\" : 1e400}", "{\"a\":1,\"a\":2}", " {}", "{\n}", "[1.0, 12345678901234567890123]", "\"x\"", "",
      ]
      return (2, Array(texts.randomElement(using: &random)!.utf8))
    case 4: return (2, document(isJSON: true).jsonBytes())
    case 5:
      let count = Int.random(in: 0...40, using: &random)
      return (
        [3, 0, 77, .max].randomElement(using: &random)!,
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      )
    default: return (1, document(isJSON: true).cbor())
    }
  }

  private mutating func metadata() -> [UInt8] {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return DocumentValue.object(["by": document(isJSON: true)]).cbor()
    case 1: return DocumentValue.object(["by": document(isJSON: false)]).cbor()
    case 2: return [[0xA0], [0x01], [0xBF, 0xFF]].randomElement(using: &random)!
    default: return []
    }
  }
}

extension [UInt8] {
  /// The lines, without their ends.
  var splitLines: [[UInt8]] {
    split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map { Array($0) }
  }
}

extension [UInt8] {
  /// The lines after the first, without the chains, which are where the blocks of the store end.
  var eventLines: [String] {
    splitLines.dropFirst().map { line in
      let text = String(decoding: line, as: UTF8.self)
      guard let chain = text.range(of: #","chain":""#, options: .backwards), text.hasPrefix("{\"sequence\"")
      else {
        return text
      }
      return text[..<chain.lowerBound] + "}"
    }
  }
}

extension [[UInt8]] {
  var joinedLines: [UInt8] { flatMap { $0 + [0x0A] } }
}
