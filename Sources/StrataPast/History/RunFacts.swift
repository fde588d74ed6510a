// What decides which runs of a history are merged, and which go from its front.

/// A run, as `MergePlan` and `FrontCut` see it: a value without a file, so that a policy can be tested without one.
struct RunFacts: Equatable {
  var isBase = false
  /// How often its events were merged.
  var level: UInt32 = 0
  /// The bytes of its file.
  var length: UInt64 = 0
  /// How often an event of it changed a row.
  var changes: UInt64 = 0
  var versions: UInt64 = 0
  var rows: UInt64 = 0
  /// The own time at its begin; nil before the first event.
  var beginTime: Int64?
  /// The own time of its last event.
  var endTime: Int64 = 0
}

extension RunFacts {
  init(_ run: RunReader, _ entry: ManifestRun) {
    self.init(
      isBase: run.root.isBase, level: entry.level, length: run.length, changes: run.root.counts.changes,
      versions: run.root.versionCount, rows: run.root.rowCount, beginTime: run.root.time, endTime: entry.time)
  }
}
