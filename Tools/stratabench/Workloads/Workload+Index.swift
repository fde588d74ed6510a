// Measures the derived indexes: their size beside the log, an open that uses a saved one, and reads by name.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

extension Workload {
  static func index(_ bench: Bench) async throws {
    try await lines(bench)
    try await streams(bench)
    try await opening(bench)
  }

  /// Lines with append ids, as an import writes them.
  private static func lines(_ bench: Bench) async throws {
    let store = try await imported("lines", bench) { number in
      let draft = bench.corpus.draft(number..<number + 1)
      draft.id = Array("incidents.jsonl:\(number):\(hex(UInt64(number) &* 0x9E37_79B9_7F4A_7C15))".utf8)
      return draft
    }
    try await store.close()
    reportSizes("lines with ids", bench.scratch.path + "/lines", count: bench.corpus.count)
  }

  /// As many streams as events, each with a random name.
  private static func streams(_ bench: Bench) async throws {
    let count = bench.corpus.count
    func name(_ number: Int) -> String {
      let words = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15, UInt64(number) &* 0xC2B2_AE3D_27D4_EB4F)
      let text = hex(words.0 ^ words.0 >> 31) + hex(words.1 ^ words.1 >> 29)
      let cuts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
        text.dropFirst(range.lowerBound).prefix(range.count)
      }
      // One in a thousand is in a category of its own.
      return (number % 1000 == 0 ? "rare/" : "thing/") + cuts.joined(separator: "-")
    }
    let store = try await imported("streams", bench) { number in
      let draft = AppendDraft(bytesHint: 320)
      let line = bench.corpus[number]
      Array(name(number).utf8).withUnsafeBytes { stream in
        Array("made".utf8).withUnsafeBytes { type in
          line.payload.withUnsafeBytes { payload in
            draft.add(
              stream: stream, type: type, codec: PayloadCodec.cbor.rawValue,
              metadata: UnsafeRawBufferPointer(start: nil, count: 0), payload: payload)
          }
        }
      }
      return draft
    }
    var generator = SystemRandomNumberGenerator()
    let wanted = (0..<2000).map { _ in StreamName(name(Int.random(in: 0..<count, using: &generator))) }
    let found = try seconds { for stream in wanted { _ = try store.eventsBlocking(in: stream) } }
    let absent = try seconds {
      for number in 0..<2000 { _ = try store.eventsBlocking(in: StreamName("thing/none-\(number)")) }
    }
    report("one of these streams", microseconds(found / 2000))
    report("a stream that is not there", microseconds(absent / 2000))
    try readCategory(store)
    try await store.close()
    reportSizes("streams with UUIDs", bench.scratch.path + "/streams", count: count)
  }

  private static func readCategory(_ store: EventStore) throws {
    var (blocks, all) = (0, 0)
    let rare = try seconds {
      var cursor = IndexedCursor(store.log.index, .category, of: [Array("rare".utf8)], after: 0)
      while try cursor.next() != nil { blocks += 1 }
    }
    let whole = try seconds {
      var cursor = store.log.cursor(after: 0)
      while try cursor.next() != nil { all += 1 }
    }
    report(
      "a category with an event in 1,000",
      "\(milliseconds(rare)), \(blocks) of \(all) blocks; the whole log takes \(milliseconds(whole))")
    let names = try seconds { _ = try store.log.index.categories(limit: 10) }
    let page = try seconds { _ = try store.log.index.streams(prefix: Array("rare/".utf8), limit: 1000) }
    report("all categories", milliseconds(names))
    report("a thousand streams of a category", milliseconds(page))
  }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func imported(
    _ name: String, _ bench: Bench, _ draft: (Int) -> AppendDraft
  ) async throws -> EventStore {
    let store = try await EventStore.open(at: bench.scratch.fresh(name))
    let time = try seconds {
      let run = try store.log.run()
      for number in 0..<bench.corpus.count { _ = try run.add(draft(number), label: UInt64(number)) }
      let progress = run.drain()
      precondition(progress.appended == UInt64(bench.corpus.count), "\(progress)")
    }
    report("appending, \(name)", rate(bench.corpus.count, time))
    return store
  }

  private static func reportSizes(_ name: String, _ path: String, count: Int) {
    let log = bytesOnDisk("\(path)/log")
    let derived = bytesOnDisk("\(path)/derived")
    let each = Double(derived) / Double(count)
    report(
      name,
      "derived \(derived / 1024) KiB, log \(log / 1024) KiB, ratio \(ratio(Double(derived), Double(log))), "
        + String(format: "%.1f bytes an event", each))
  }

  /// Opening for writing with half a million events in the active segment: with its saved index and without `derived`,
  /// in turns.
  private static func opening(_ bench: Bench) async throws {
    var options = StoreOptions()
    options.segmentSizeTarget = 256 << 20
    let path = bench.scratch.fresh("active")
    let count = min(500_000, bench.corpus.count)
    let store = try await EventStore.open(at: path, options: options)
    for start in stride(from: 0, to: count, by: 1000) {
      let draft = AppendDraft(bytesHint: 64_000)
      for number in start..<min(start + 1000, count) {
        Array("counter/\(number % 20_000)".utf8).withUnsafeBytes { stream in
          Array("counted".utf8).withUnsafeBytes { type in
            draft.add(
              stream: stream, type: type, codec: PayloadCodec.cbor.rawValue,
              metadata: UnsafeRawBufferPointer(start: nil, count: 0), payload: type)
          }
        }
      }
      _ = try await store.append(draft)
    }
    let closing = try await seconds { try await store.close() }
    var (scanned, saved, closes): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<bench.rounds {
      for isSaved in [false, true] {
        if !isSaved { try? FileManager.default.removeItem(atPath: "\(path)/derived") }
        var store: EventStore?
        let time = try await seconds { store = try await EventStore.open(at: path, options: options) }
        if isSaved { saved.append(time) } else { scanned.append(time) }
        let close = try await seconds { try await store?.close() }
        if isSaved { closes.append(close) }
      }
    }
    report("opening, whole segment read", milliseconds(median(scanned)))
    report(
      "opening, index saved", "\(milliseconds(median(saved))), ratio \(ratio(median(saved), median(scanned)))"
    )
    report("closing, index saved anew", milliseconds(closing))
    report("closing, nothing to save", milliseconds(median(closes)))
    let log = bytesOnDisk("\(path)/log")
    report("active segment", "\(log / 1024) KiB, index \(bytesOnDisk("\(path)/derived") / 1024) KiB")
  }
}
