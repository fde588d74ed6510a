// The limits of the files of which a history consists.

package import StrataLog

/// When a run ends, when runs are merged, and how large the parts of a run are. Each is an option so that tests can make
/// it tiny.
package struct RunLimits: Sendable {
  /// With this number of changes, or of bytes of documents, a run is written.
  package var changeCountMax = 4_096
  package var byteCountMax = 4 << 20
  /// How long a step of the work on a history takes, unless it writes.
  package var stepTime = Duration.milliseconds(10)
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
  /// The most keys in a page of keys.
  package var keyCountMax = 32
  /// The most keys in a group, of which a run says together when they were there. No more than 256.
  package var groupKeyCountMax = 256
  /// The fewest pages of keys in a part of a directory that another one follows.
  package var directoryPageCountMin = 128
  /// The fewest changes of keys in a chunk that another one follows.
  package var chunkChangeCountMin = 1_024
  /// Keys that are made of the rows of runs are sorted in parts of no more bytes, all lists of a run together.
  package var madeKeysByteCountMax = 32 << 20
  /// Of a past state, a tree with no more keys is made at once.
  package var wholeKeyCountMax = 64
  /// Of a past list, this number of keys after a section's begin are found without counting what groups have.
  package var uncountedKeyCountMax = 32
  /// For the ranks of this number of keys or more, pages that are near each other in the file are read together, and do
  /// not stay in memory.
  package var sweptKeyCountMin = 64
  /// The most bytes that are read together. Longer pages are read as for fewer keys.
  package var sweepLength = 8_192
  /// The most bytes that are read together while all rows or events of a run are read one after another. They do not
  /// stay in memory either.
  package var walkLength = 1 << 16
  /// The fewest rows of a part of a state. Parts are read by several threads, where there are some.
  package var partRowCountMin = 4_096
  /// Documents of this length and longer are stored outside pages.
  package var largeLength = 4_096
  /// Of the documents of a row in a page, every one at a multiple of this number is whole.
  package var wholeInterval = 16
  /// A row of a past state that takes longer was waited for: then other rows are asked for together.
  package var rowWaitMin = Duration.microseconds(100)
  /// The most files of runs that one history has open at a time, besides those that something holds.
  package var openFileCountMax = 64

  package init() {}
}

extension StoreOptions {
  package var runLimits: RunLimits {
    get { self[PastOptions.self].runLimits }
    set { self[PastOptions.self].runLimits = newValue }
  }
}
