// The golden files of format 1.0: what this code reads in them is what is kept beside them, today and later.

import Foundation
import StrataLog
import StrataSimulation
import Testing

@Suite struct GoldenFileTests {
  /// What a check finds.
  private func findings(_ disk: SimulatedDisk) throws -> [GoldenAnswers.Place] {
    return try disk.findings(inStore: GoldenText.root).map { GoldenAnswers.Place($0) }
  }

  /// What is delivered up to the first place that is wrong; nil where not even that much can be opened.
  private func delivery(_ disk: SimulatedDisk) -> Delivery? {
    var options = StoreOptions()
    options.readsDamaged = true
    guard let log = try? Log.openReader(disk, path: GoldenText.root, options: options) else { return nil }
    defer { try? log.close() }
    return Delivery(log)
  }

  /// True where no reader opens the store: another version's segment is refused whole, and what it would say of the
  /// segments before it with it.
  private func isRefused(_ findings: [GoldenAnswers.Place]) -> Bool {
    findings.contains { $0.class == "unsupported" && $0.offset == 0 }
  }

  /// True for damage that a feed does not come by: it reads a rewritten segment up to the end that its header names.
  private func isBehindEnd(_ finding: GoldenAnswers.Place, in files: [String: [UInt8]]) -> Bool {
    guard let bytes = files[finding.file], bytes.count >= SegmentHeader.length,
      let header = try? bytes.withUnsafeBytes({ try SegmentHeader(decoding: $0) }), header.isRewritten
    else { return false }
    return finding.offset >= header.rewrittenEnd
  }

  @Test(arguments: try GoldenText.names())
  func `a kept store says what it said when it was kept`(name: String) throws {
    let store = try GoldenText(named: name)
    let answers = try GoldenAnswers.named(name)
    #expect(!store.what.isEmpty)
    let disk = try GoldenText.disk(store.files)
    let before = disk.evidence(of: GoldenStore.layout)
    #expect(try findings(disk) == answers.findings)
    if isRefused(answers.findings) {
      #expect(delivery(disk) == nil)
    } else {
      let events = try delivery(disk)?.events() ?? []
      #expect(events == answers.events)
      #expect(events.last?.chain == answers.chain && events.last?.sequence == answers.sequence)
    }
    #expect(disk.evidence(of: GoldenStore.layout) == before)
  }

  @Test(arguments: try GoldenText.names())
  func `a kept store opens for whom it may`(name: String) throws {
    let answers = try GoldenAnswers.named(name)
    let disk = try GoldenText.disk(try GoldenText(named: name).files)
    let before = disk.evidence(of: GoldenStore.layout)
    var options = StoreOptions()
    options.sealsInBackground = false
    let isRight = answers.findings.allSatisfy { $0.class == "torn" }
    // Content is not looked at where nothing has to be read.
    let isOpened =
      isRight || ["unknown-append-flag", "unknown-event-flag", "unknown-event-kind"].contains(name)
    if isOpened {
      let reader = try Log.openReader(disk, path: GoldenText.root, options: options)
      if isRight { #expect(reader.mark.sequence == answers.sequence ?? reader.mark.logBegin - 1) }
      try reader.close()
    } else {
      let error = #expect(throws: StoreError.self) {
        try Log.openReader(disk, path: GoldenText.root, options: options)
      }
      guard let error, error.reason == .unsupported, let finding = error.finding else {
        Issue.record("another error than the format's")
        return
      }
      #expect(GoldenAnswers.Place(finding).file == answers.findings[0].file && !finding.what.isEmpty)
    }
    guard isRight, name != "readonly-feature" else {
      let error = #expect(throws: StoreError.self) {
        try Log.openWriter(disk, path: GoldenText.root, options: options)
      }
      #expect(error?.reason == .unsupported)
      #expect(disk.evidence(of: GoldenStore.layout) == before)
      return
    }
    let writer = try Log.openWriter(disk, path: GoldenText.root, options: options)
    let next = GoldenRecipe.append(99)
    let outcome = try writer.appendBlocking(next.draft())
    #expect(outcome.first == (answers.sequence ?? writer.mark.logBegin - 1) + 1)
    try writer.close()
    #expect(try findings(disk) == [])
    #expect(delivery(disk)?.eventCount == answers.events.count + 1)
  }

  @Test(arguments: try GoldenText.names())
  func `the corrupt twins of a kept store are found out as they were`(name: String) throws {
    let store = try GoldenText(named: name)
    let answers = try GoldenAnswers.named(name)
    for twin in answers.twins {
      var files = store.files
      for edit in twin.edits { edit.apply(to: &files) }
      let disk = try GoldenText.disk(files)
      let before = disk.evidence(of: GoldenStore.layout)
      #expect(try findings(disk) == twin.findings, "\(twin.edits)")
      if isRefused(twin.findings) {
        #expect(delivery(disk) == nil)
      } else if let delivery = delivery(disk) {
        let isWhole = twin.findings.first.map { isBehindEnd($0, in: store.files) } ?? false
        #expect(
          delivery.eventCount == (isWhole ? answers.events.count : twin.events),
          "\(twin.edits): \(twin.findings)")
        #expect(try delivery.events() == Array(answers.events.prefix(delivery.eventCount)), "\(twin.edits)")
        let isRight = twin.findings.allSatisfy { $0.class == "torn" }
        #expect(!isRight || delivery.error == nil, "\(twin.edits)")
      } else {
        #expect(twin.events == 0, "\(twin.edits): \(twin.findings)")
      }
      #expect(disk.evidence(of: GoldenStore.layout) == before)
    }
  }

  /// LZ4 may pack the same bytes otherwise in another version of it.
  private static let dependOnLZ4: Set<String> = ["compressed", "sealed-by-the-writer"]

  @Test(arguments: GoldenRecipe.all)
  func `the writer writes a kept store again, byte for byte`(recipe: GoldenRecipe) throws {
    let files = try recipe.files()
    // To keep another one: set STRATA_GOLDEN, run this test, and make.py for the answers.
    if ProcessInfo.processInfo.environment["STRATA_GOLDEN"] != nil {
      let url = GoldenText.folder.appendingPathComponent("\(recipe.name).store")
      try Data(GoldenText.text(recipe.what, files).utf8).write(to: url)
    }
    let kept = try GoldenText(named: recipe.name)
    #expect(kept.what == recipe.what)
    #expect(kept.files.keys.sorted() == files.keys.sorted())
    guard !Self.dependOnLZ4.contains(recipe.name) else {
      #expect(
        try delivery(GoldenText.disk(files))?.events() == delivery(GoldenText.disk(kept.files))?.events())
      return
    }
    for (path, bytes) in files { #expect(kept.files[path] == bytes, "\(recipe.name)/\(path)") }
  }
}
