// How much of the past a store keeps in a form that answers without a replay.

/// What a store keeps of the past besides its log.
public struct StoreHistory: Sendable, Hashable {
  let isKept: Bool

  /// Nothing. A state of the past is a replay of the log up to it.
  public static let off = StoreHistory(isKept: false)
  /// Every version of every row, and the keys of kept lists, from the first event on. A state of the past is then read.
  public static let all = StoreHistory(isKept: true)
}

/// When a run ends, when runs are merged, and how large the parts of a run are. Each is an option so that tests can make
/// it tiny.
package struct RunLimits: Sendable {
  /// With this number of changes, or of bytes of documents, a run is written.
  package var changeCountMax = 4_096
  package var byteCountMax = 4 << 20
  /// As long as more events than that are to be folded, a run may have this many times as many changes.
  package var laggingCount = 8
  /// The number of neighbours of one level that are merged into one run of the next level.
  package var mergedCount = 8
  /// Deltas with this number of changes, and twice as many as there are rows, are merged into a base.
  package var baseChangeCountMin: UInt64 = 65_536
  /// As many bases as deltas are merged if they have no more versions than this: a state in a run is read from all of
  /// its versions.
  package var mergedVersionCountMax: UInt64 = 1 << 20
  /// The length at which a page ends, in bytes before compression. A page is longer by at most one version or event.
  package var pageLength = 4_096
  /// Whether runs have the keys of rows and of kept lists. False writes runs as they were before there were keys.
  package var keepsKeys = true
  /// The most keys in a page of keys.
  package var keyCountMax = 32
  /// Keys that are made of the rows of runs are sorted in parts of no more bytes, all lists of a run together.
  package var madeKeysByteCountMax = 32 << 20
  /// Of a past state, a tree with no more keys is made at once.
  package var wholeKeyCountMax = 64
  /// Documents of this length and longer are stored outside pages.
  package var largeLength = 4_096
  /// Of the documents of a row in a page, every one at a multiple of this number is whole.
  package var wholeInterval = 16
  /// The most bytes of runs that are kept in memory for reading.
  package var cacheSize = 16 << 20

  package init() {}
}

extension StoreOptions {
  /// Whether a history of the projections is kept.
  package var keepsHistory: Bool { history.isKept }
}
