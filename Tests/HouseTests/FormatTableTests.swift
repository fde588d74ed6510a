// The tables of FORMAT.md and of the pages of what is derived, against the constants of the code: the pages and the
// program say the same numbers.

import Foundation
import StrataLog
@testable import StrataPast
@testable import StrataTables
import Testing

/// The files of the repository.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The Swift files below a folder, as paths from the root.
  static func swiftFiles(_ folder: String) -> [String] { files(folder, endingIn: ".swift") }

  /// The files below a folder whose names end so, as paths from the root.
  static func files(_ folder: String, endingIn ending: String) -> [String] {
    let base = root.appendingPathComponent(folder)
    let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
    // The first line of a manifest is not for readers, and what is fetched and built is not ours.
    return names.filter {
      $0.hasSuffix(ending) && !$0.hasSuffix("Package.swift") && !$0.contains(".build/")
    }
    .sorted().map { "\(folder)/\($0)" }
  }
}

/// The pages that describe files byte by byte.
enum FormatPage: String {
  case log = "FORMAT.md"
  case states = "Sources/StrataPast/StrataPast.docc/StateFormat.md"
  case histories = "Sources/StrataPast/StrataPast.docc/HistoryFormat.md"

  func text() throws -> String { try Repository.text(rawValue) }

  /// The text with each paragraph on one line.
  func line() throws -> String { try text().replacingOccurrences(of: "\n", with: " ") }
}

/// A table of a page with the columns offset, size and name.
struct FormatTable {
  struct Row: Equatable {
    var offset: Int
    /// nil where the size is not a number.
    var size: Int?
    var name: String
  }

  var rows: [Row] = []

  /// The table whose third column is headed `title`.
  init(_ title: String, of page: FormatPage = .log) throws {
    let lines = try page.text().split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(
      lines.firstIndex {
        Self.cells($0).count == 3 && Self.cells($0)[2] == title && Self.cells($0)[0] == "offset"
      },
      "\(page.rawValue) has no table \(title)")
    for line in lines[(start + 2)...].prefix(while: { $0.hasPrefix("|") }) {
      let cells = Self.cells(line)
      rows.append(Row(offset: try #require(Int(cells[0])), size: Int(cells[1]), name: cells[2]))
    }
  }

  private static func cells(_ line: Substring) -> [String] {
    line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  func offset(_ name: String) throws -> Int {
    let matches = rows.filter { $0.name.hasPrefix(name) }
    try #require(matches.count == 1, "\(name) is not one row")
    return matches[0].offset
  }

  /// Rows follow each other without a gap, and end at a length.
  func expectNoGaps(length: Int, isFilled: Bool = true) {
    for (row, next) in zip(rows, rows.dropFirst()) {
      #expect(row.offset + (row.size ?? next.offset - row.offset) == next.offset, "behind \(row.name)")
    }
    if let last = rows.last, let size = last.size, isFilled { #expect(last.offset + size == length) }
  }
}

@Suite struct FormatTableTests {
  private func expect(_ table: FormatTable, _ offsets: [(name: String, offset: Int)]) throws {
    for (name, offset) in offsets { #expect(try table.offset(name) == offset, "\(name)") }
  }

  @Test func `the block header is where FORMAT.md says`() throws {
    let table = try FormatTable("block header")
    typealias Offset = BlockHeader.Offset
    table.expectNoGaps(length: BlockHeader.length)
    try expect(
      table,
      [
        ("magic", Offset.magic), ("header length", Offset.headerLength), ("kind", Offset.kind),
        ("codec", Offset.codec), ("flags", Offset.flags), ("CRC32C of the header", Offset.headerChecksum),
        ("stored length", Offset.storedLength), ("raw length", Offset.rawLength),
        ("CRC32C of the stored payload", Offset.payloadChecksum), ("event count", Offset.eventCount),
        ("append count", Offset.appendCount), ("span", Offset.span), ("own offset", Offset.ownOffset),
        ("first sequence", Offset.firstSequence), ("appends in the store", Offset.appendsBefore),
        ("identity: first sequence", Offset.segment), ("identity: store UUID", Offset.storeID),
        ("writer epoch", Offset.epoch), ("synced through", Offset.syncedThrough),
        ("commit time of the first", Offset.firstTime), ("commit time of the last", Offset.lastTime),
        ("chain before", Offset.chainBefore), ("chain after", Offset.chainAfter),
      ])
    #expect(table.rows.last?.offset == Offset.reserved && table.rows.count == 25)
    #expect(String(decoding: BlockHeader.magic, as: UTF8.self) == "STRB")
  }

  @Test func `the segment header is where FORMAT.md says`() throws {
    let table = try FormatTable("segment header")
    typealias Offset = SegmentHeader.Offset
    table.expectNoGaps(length: SegmentHeader.length)
    try expect(
      table,
      [
        ("magic", Offset.magic), ("format major", Offset.major), ("format minor", Offset.minor),
        ("header length", Offset.headerLength), ("store UUID", Offset.storeID),
        ("first sequence", Offset.firstSequence), ("incompatible", Offset.incompatibleFeatures),
        ("read-only", Offset.readOnlyFeatures), ("compatible", Offset.compatibleFeatures),
        ("previous segment: first", Offset.previousFirst), ("previous segment: last", Offset.previousLast),
        ("previous segment: chain", Offset.previousChain), ("previous segment: commit", Offset.previousTime),
        ("appends in the store", Offset.appendsBefore), ("writer epoch", Offset.epoch),
        ("time at which", Offset.created), ("revision", Offset.revision),
        ("algorithm of the chain", Offset.chainAlgorithm),
        ("rewritten only: offset of the footer", Offset.footerOffset),
        ("rewritten only: last sequence", Offset.rewrittenLast),
        ("rewritten only: chain", Offset.rewrittenChain),
        ("rewritten only: offset of the end", Offset.rewrittenEnd),
        ("rewritten only: [mark of what is erased]", Offset.erasures), ("CRC32C of bytes", Offset.checksum),
      ])
    #expect(String(decoding: SegmentHeader.magic, as: UTF8.self) == "STRATASG")
  }

  @Test func `a slot of HEAD is where FORMAT.md says`() throws {
    let table = try FormatTable("slot")
    typealias Offset = HeadSlot.Offset
    table.expectNoGaps(length: HeadSlot.length)
    try expect(
      table,
      [
        ("magic", Offset.magic), ("format major", Offset.major), ("format minor", Offset.minor),
        ("slot length", Offset.slotLength), ("store UUID", Offset.storeID), ("generation", Offset.generation),
        ("segment", Offset.segment), ("writer epoch", Offset.epoch), ("flags", Offset.flags),
        ("durability", Offset.durability), ("visible mark: offset", Offset.visible),
        ("durable mark: offset", Offset.durable), ("commit time", Offset.lastTime),
        ("first sequence of the first", Offset.logBegin), ("CRC32C of bytes", Offset.checksum),
      ])
    #expect(HeadSlot.offsets == [0, 4096] && String(decoding: HeadSlot.magic, as: UTF8.self) == "STRATAHD")
  }

  @Test func `a RECOVERY block's payload is where FORMAT.md says`() throws {
    let table = try FormatTable("payload")
    typealias Offset = RecoveryNote.Offset
    table.expectNoGaps(length: RecoveryNote.fixedLength, isFilled: false)
    try expect(
      table,
      [
        ("offset in this segment", Offset.cutOffset), ("bytes that were cut", Offset.cutLength),
        ("time of the recovery", Offset.time), ("CRC32C of the bytes", Offset.checksum),
        ("reason", Offset.reason), ("length of the path", Offset.pathLength),
        ("path of the copy", Offset.path),
      ])
  }

  @Test func `a slot of STATE is where StateFormat.md says`() throws {
    let table = try FormatTable("slot of STATE", of: .states)
    typealias Offset = StateSlot.Offset
    table.expectNoGaps(length: StateSlot.length)
    try expect(
      table,
      [
        ("magic", 0), ("format major", 8), ("format minor", 10), ("slot length", Offset.slotLength),
        ("store UUID", Offset.storeID), ("generation", Offset.generation), ("name hash", Offset.name),
        ("fingerprint", Offset.fingerprint), ("sequence", Offset.sequence), ("chain after", Offset.chain),
        ("appends up to", Offset.appends), ("own time of that event", Offset.time),
        ("hash of the erasures", Offset.erasures), ("flags", Offset.flags), ("root: entries", Offset.total),
        ("root: height", Offset.height), ("root: page file", Offset.file), ("root: offset", Offset.offset),
        ("root: length", Offset.length), ("root: checksum", Offset.checksumOfRoot), ("build", Offset.build),
        ("CRC32C of bytes", Offset.checksum),
      ])
    #expect(table.rows.count == 23 && StateSlot.offsets == [0, 4096] && StateSlot.timeFlag == 1)
    #expect(String(decoding: StateSlot.magic, as: UTF8.self) == "STRATAST")
  }

  @Test func `page files, page records and rows are where StateFormat.md says`() throws {
    let file = try FormatTable("page file header", of: .states)
    file.expectNoGaps(length: StateFiles.headerLength)
    #expect(String(decoding: StateFiles.magic, as: UTF8.self) == "STRATAPG")
    let record = try FormatTable("page record", of: .states)
    record.expectNoGaps(length: StatePage.headLength, isFilled: false)
    #expect(record.rows.last?.offset == StatePage.headLength && StatePage.compressedFlag == 1)
    let row = try FormatTable("row", of: .states)
    row.expectNoGaps(length: StoredRow.headLength, isFilled: false)
    #expect(row.rows.last?.offset == StoredRow.headLength)
  }

  @Test func `manifests and runs are where HistoryFormat.md says`() throws {
    let manifest = try FormatTable("manifest header", of: .histories)
    manifest.expectNoGaps(length: HistoryManifest.headLength)
    try expect(
      manifest,
      [
        ("magic", 0), ("format major", 8), ("format minor", 10), ("length of the manifest", 12),
        ("store UUID", 16), ("name hash", 32), ("fingerprint", 40), ("build", 48), ("next number", 56),
        ("CRC32C of the manifest", 60),
      ])
    let run = try FormatTable("run header", of: .histories)
    run.expectNoGaps(length: RunFile.headerLength)
    #expect(RunFile.major == 3 && RunFile.minor == 0)
    #expect(String(decoding: HistoryManifest.magic, as: UTF8.self) == "STRATAHM")
    #expect(String(decoding: RunFile.magic, as: UTF8.self) == "STRATARN")
    let text = try FormatPage.histories.line()
    for sentence in [
      "Pages end at 4,096 bytes", "every 16th after it",
      "height, at least 1, at most \(RunTreeRoot.heightMax)",
      "a *group*, of at most \(KeyBits.countMax) keys", "after 32 keys", "A group ends after 256 keys",
      "ends with the group that makes it 128 pages long or longer",
      "and at least 1,024, if another one follows", "a chunk of a group has at least 1,024.",
    ] { #expect(text.contains(sentence), "HistoryFormat.md does not say: \(sentence)") }
    let limits = RunLimits()
    #expect((limits.keyCountMax, limits.groupKeyCountMax) == (32, 256) && KeyBits.countMax == 256)
    #expect((limits.chunkChangeCountMin, limits.directoryPageCountMin) == (1_024, 128))
    #expect((limits.pageLength, limits.largeLength, limits.wholeInterval) == (4_096, 4_096, 16))
  }

  @Test func `when runs end and are merged is what History.md says`() throws {
    let text = try Repository.text("Sources/StrataPast/StrataPast.docc/History.md")
      .replacingOccurrences(of: "\n", with: " ")
    for sentence in [
      "After 4,096 changes or 4 MiB of documents", "eight times as many changes",
      "Eight neighbours of one level", "65,536 changes or more", "at most 2²⁰ versions",
    ] { #expect(text.contains(sentence), "History.md does not say: \(sentence)") }
    let limits = RunLimits()
    #expect((limits.changeCountMax, limits.byteCountMax, limits.laggingCount) == (4_096, 4 << 20, 8))
    #expect((limits.mergedCount, limits.baseChangeCountMin) == (8, 65_536))
    #expect(limits.mergedVersionCountMax == 1 << 20)
  }

  @Test func `the page sizes of the trees of a view are those that StateFormat.md says`() throws {
    let text = try FormatPage.states.text()
    for kind in ViewTrees.Kind.allCases {
      let size = kind.pageSize == 1024 ? "1,024" : "4,096"
      #expect(kind.pageSize == 1024 || kind.pageSize == 4096)
      #expect(text.contains("\n| \(kind.rawValue) | \(kind) | \(size) |"), "\(kind)")
    }
    #expect(ViewTrees.Kind.allCases.count == 9)
    #expect(StateDirectory.pageSize == 4096 && TreePages.table == 4096 && Tree().pageSize == 4096)
    #expect(PageLayout(pageSize: 4096).area == 4096 - 64 && PageLayout.childCountMax == 16)
    let kinds: [StateDirectory.Kind] = [.failure, .failureCount, .pageFile, .table, .view]
    for kind in kinds {
      let letter = String(decoding: [kind.rawValue], as: UTF8.self)
      let digits = String(kind.rawValue, radix: 16).uppercased()
      #expect(text.contains("\n| `\(letter)` (\(digits)) |"), "\(kind)")
    }
  }

  @Test func `the limits and numbers of FORMAT.md are those of the code`() throws {
    let text = try FormatPage.log.line()
    let sentences = [
      "header length: \(BlockHeader.length) in 1.0; a multiple of \(FormatLimits.alignment), \(BlockHeader.length) to \(BlockHeader.lengthMax)",
      "at most \(FormatLimits.rawLengthMax >> 20) MiB",
      "the append id, 1 to \(FormatLimits.appendIDLengthMax) bytes",
      "stream: 1 to \(FormatLimits.streamLengthMax) bytes", "type: 1 to \(FormatLimits.typeLengthMax) bytes",
      "salt: 0 or \(FormatLimits.saltLength) bytes", "in \(FormatLimits.segmentNameDigits) digits",
      "kind: \(BlockKind.events) = events, \(BlockKind.recovery) = RECOVERY, \(BlockKind.footer) = FOOTER",
      "A kind of \(BlockKind.firstSkippable) or more", "255 × stored length + 64",
      "two slots of \(HeadSlot.length) bytes at offsets \(HeadSlot.offsets[0]) and \(HeadSlot.offsets[1])",
      "kind: \(EventKind.event) = event, \(EventKind.erased) = erased, \(EventKind.firstOpaque) or more = opaque",
      "1 = paranoid, 2 = synced, 3 = buffered", "reason: \(RecoveryNote.tornTail) = torn tail",
    ]
    for sentence in sentences {
      let isSaid = text.contains(sentence)
      #expect(isSaid, "FORMAT.md does not say: \(sentence)")
    }
    #expect(Compression.rawLengthMax(stored: 10) == 255 * 10 + 64)
    #expect(Durability.allCases.map(\.rawValue) == [1, 2, 3])
    #expect(AppendFlag.known == AppendFlag.given | AppendFlag.id | AppendFlag.erasable)
  }
}
