// How much of the past a store keeps in a form that answers without a replay.

/// What a store keeps of the past besides its log.
public struct StoreHistory: Sendable, Hashable {
  let isKept: Bool
  /// What is kept of it.
  package var bounds = HistoryBounds()
  /// Whether a history that lacks its beginning is made again, from the first event on.
  package var isWhole = false

  /// Nothing. A state of the past is a replay of the log up to it.
  public static let off = StoreHistory(isKept: false)
  /// Every version of every row, and the keys of kept lists, from the first event on. A state of the past is then read.
  ///
  /// A history of which an earlier process kept only the last part is made again, of the whole log.
  public static let all = StoreHistory(isKept: true, isWhole: true)

  /// The same of the last days alone. What is older is replayed, and is never an error.
  ///
  /// Days are 24 hours of the own times in the log, before that of the newest event in the history. So it does not matter what
  /// the clock says now, an imported log keeps its own last days, and a store in which nothing happens loses nothing.
  ///
  /// The history answers about all of this time, and about some more: it begins with what lived at some moment before,
  /// which is written again once as many changes are older as there are rows. What went does not come back when the
  /// number is raised; `all` makes it again.
  ///
  /// - Parameter days: if 0 or less, nothing is kept, as with `off`.
  public static func last(days: Int) -> StoreHistory { last(nanoseconds: nanoseconds(days), bytes: nil) }

  /// The same of the last part alone that takes about as many bytes. What is older is replayed, and is never an error.
  ///
  /// The bytes are those of the files of one projection's history; the documents have one, and each projection has one.
  /// It has more for as long as what it has can only be made smaller by writing all rows again for fewer changes than
  /// there are rows. So a history has at least one version of each row, however few bytes are asked for. While it is
  /// written again, both take room.
  ///
  /// - Parameter bytes: if 0 or less, nothing is kept, as with `off`.
  public static func last(bytes: Int) -> StoreHistory { last(nanoseconds: nil, bytes: bytes) }

  /// The same of the last days, and no more of them than take about as many bytes.
  ///
  /// - Parameters:
  ///   - days: if 0 or less, nothing is kept, as with `off`.
  ///   - bytes: if 0 or less, nothing is kept, as with `off`.
  public static func last(days: Int, bytes: Int) -> StoreHistory {
    last(nanoseconds: nanoseconds(days), bytes: bytes)
  }

  /// What there is, and what follows on it: a history that lacks its beginning is continued without it.
  package static let continued = StoreHistory(isKept: true)

  package static func last(nanoseconds: Int64?, bytes: Int?) -> StoreHistory {
    guard nanoseconds ?? 1 > 0, bytes ?? 1 > 0 else { return .off }
    return StoreHistory(
      isKept: true,
      bounds: HistoryBounds(nanoseconds: nanoseconds, bytes: bytes.map { UInt64($0) }))
  }

  private static func nanoseconds(_ days: Int) -> Int64 {
    let (nanoseconds, isTooLong) = Int64(days).multipliedReportingOverflow(by: 24 * 3_600 * 1_000_000_000)
    return isTooLong ? (days > 0 ? .max : .min) : nanoseconds
  }
}

/// Which last part of a history is kept.
package struct HistoryBounds: Sendable, Hashable {
  /// How far before the newest event an event is still kept, by own times; nil for any.
  package var nanoseconds: Int64?
  /// The bytes of its files; nil for any number.
  package var bytes: UInt64?

  package init(nanoseconds: Int64? = nil, bytes: UInt64? = nil) {
    (self.nanoseconds, self.bytes) = (nanoseconds, bytes)
  }
}

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
  /// The most bytes of runs that are kept in memory for reading.
  package var cacheSize = 16 << 20
  /// A row of a past state that takes longer was waited for: then other rows are asked for together.
  package var rowWaitMin = Duration.microseconds(100)
  /// The most files of runs that one history has open at a time, besides those that something holds.
  package var openFileCountMax = 64

  package init() {}
}

extension StoreOptions {
  /// Whether a history of the projections is kept.
  package var keepsHistory: Bool { history.isKept }
}
