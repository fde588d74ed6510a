// Reads everything that is saved of histories, and says what of it is damaged.

internal import StrataBase
package import StrataLog
internal import StrataTables

/// A read-only check of `derived/history/`. That there is no history is not a finding: it may be deleted at any moment.
package struct HistoryVerifier {
  /// The bytes of a run that are in memory at a time, besides what is read in one go and its directories.
  private static let cacheLength = 1 << 20
  /// How often a history is looked at again that a writer replaces meanwhile.
  private static let tryCountMax = 4

  private let log: Log

  package init(_ log: Log) { self.log = log }

  /// For each file the first thing in it that is wrong. Every record of every run is read, of whatever program, and what
  /// a run says of itself is compared with the manifest. O(bytes of the histories), of which few are in memory.
  package func run() throws(StoreError) -> [StoreFinding] {
    let fileSystem = log.source.catalog.fileSystem
    var findings: [StoreFinding] = []
    for folder in try HistoryDump.folders(fileSystem, log.layout) {
      findings += try check(HistoryFiles(log, folder: folder), folder)
    }
    return findings
  }

  private func check(_ files: HistoryFiles, _ folder: String) throws(StoreError) -> [StoreFinding] {
    for _ in 0..<Self.tryCountMax {
      guard let opened = files.openManifest() else {
        // Before the first run is there, a folder has no manifest.
        return try files.runFiles().isEmpty
          ? [] : [finding(folder, StoreLayout.manifestFile, "the file is missing or cannot be opened")]
      }
      opened.file.close()
      // It may go up to events that were appended since the log was opened.
      try? log.refresh()
      let findings = try check(opened.manifest, files, folder)
      if findings.isEmpty { return [] }
      // A writer beside this check may have replaced the runs while they were read.
      guard let now = files.openManifest() else { continue }
      now.file.close()
      if now.manifest == opened.manifest { return findings }
    }
    return []
  }

  private func check(
    _ manifest: HistoryManifest?, _ files: HistoryFiles, _ folder: String
  ) throws(StoreError) -> [StoreFinding] {
    let name = StoreLayout.manifestFile
    guard let manifest else {
      return [
        finding(
          folder, name,
          "this is no manifest of version \(RunFile.major), or its bytes differ from those that were written")
      ]
    }
    guard manifest.storeID == log.storeID else {
      return [finding(folder, name, "the history is of another store")]
    }
    var findings: [StoreFinding] = []
    for run in manifest.runs {
      guard let damage = damage(of: run, files) else { continue }
      findings.append(
        finding(
          folder, StoreLayout.runFileName(run.number), damage.what, offset: damage.location?.offset ?? 0))
    }
    // Where the log cannot be read, the check of the log has a finding.
    guard let erasures = try? log.erasures(), let last = manifest.runs.last, last.end >= log.mark.logBegin
    else { return findings }
    guard last.end <= log.mark.sequence, (try? log.chain(after: last.end)) ?? last.chain == last.chain else {
      return findings + [
        StoreFinding(
          .stale, file: path(folder, name), offset: 0, first: last.end &+ 1, last: last.end,
          what: "the history goes up to event \(last.end), which the log lost before it was durable")
      ]
    }
    guard last.erasures == erasures.hash(through: last.end) else {
      return findings + [finding(folder, name, "the history was made before events of it were erased")]
    }
    return findings
  }

  private func path(_ folder: String, _ file: String) -> String {
    "\(StoreLayout.historiesPath)/\(folder)/\(file)"
  }

  private func finding(_ folder: String, _ file: String, _ what: String, offset: UInt64 = 0) -> StoreFinding {
    StoreFinding(.history, file: path(folder, file), offset: offset, first: 1, last: 0, what: what)
  }

  /// What is wrong with a run; nil if nothing is.
  private func damage(of run: ManifestRun, _ files: HistoryFiles) -> PageDamage? {
    do {
      let reader = try run.open(files, RunCache(PageCache(limit: Self.cacheLength)))
      guard reader.length == run.length else {
        return PageDamage("a run has another length than the manifest says")
      }
      try HistoryDump.lend(reader) { _ in }
      _ = try reader.mayContain(0)
      for root in reader.keys.lazy.flatMap(\.sets) {
        if let tally = root.addresses?.tally { try reader.check(tally) }
        if let tally = root.sections?.tally { try reader.check(tally) }
      }
      return nil
    } catch {
      return error as? PageDamage ?? PageDamage("\(error)")
    }
  }
}
