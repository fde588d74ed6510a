// Which runs of a manifest fit the log, and the files that they are in.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension HistoryManifest {
  /// A manifest without runs, for the history of a projection.
  init(_ log: Log, _ name: StateName, _ fingerprint: StateFingerprint) {
    self.init(storeID: log.storeID, name: name.hash, fingerprint: fingerprint.code, build: fingerprint.build)
  }

  /// Whether the manifest is of the same store, projection and code as another one.
  func isOf(_ other: HistoryManifest) -> Bool {
    storeID == other.storeID && name == other.name && fingerprint == other.fingerprint && build == other.build
  }

  /// The runs, from the first on, that are of the events that the log has, and were made after what is erased in it was
  /// erased.
  ///
  /// - Parameter isWhole: whether runs that do not begin with the log are of no use.
  func runs(
    validIn log: Log, _ erasures: SegmentErasures, isWhole: Bool = false
  ) throws(StoreError) -> [ManifestRun] {
    let mark = log.mark
    guard let first = runs.first,
      isWhole ? first.begin == mark.logBegin - 1 : first.begin >= mark.logBegin - 1
    else { return [] }
    var runs = runs
    // A log that lost events that were only buffered has the chain of an earlier boundary.
    while let last = runs.last {
      if last.end <= mark.sequence, last.appends <= mark.appends, try log.chain(after: last.end) == last.chain
      {
        break
      }
      runs.removeLast()
    }
    guard let last = runs.last, last.erasures == erasures.hash(through: last.end) else { return [] }
    return runs
  }
}

extension ManifestRun {
  /// Opens the run. Throws if it is not the one that is meant.
  func open(_ files: HistoryFiles, _ cache: RunCache) throws(PageDamage) -> RunReader {
    let reader = try RunReader(files, number, root: address, cache)
    guard reader.root.begin == begin, reader.root.end == end,
      reader.root.appends.addingSaturated(reader.root.counts.appends) == appends
    else { throw PageDamage("a run has other events than the manifest says") }
    return reader
  }
}
