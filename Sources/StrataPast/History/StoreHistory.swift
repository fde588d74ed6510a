// How much of the past a store keeps in a form that answers without a replay.

public import StrataLog

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

extension StoreOptions {
  /// Whether every version of every row is kept in the store's folder, so that rows and lists of the past need no replay.
  /// Off by default: it takes room, and processor time in the background. Only a process that writes keeps it, for the
  /// documents and projections that it reads; processes that only read use what it keeps, whatever this says there. What
  /// is kept can be deleted at any time: nothing but time is lost. `.last(days:)` and `.last(bytes:)` keep the last part.
  public var history: StoreHistory {
    get { self[PastOptions.self].history }
    set { self[PastOptions.self].history = newValue }
  }

  /// Whether a history of the projections is kept.
  var keepsHistory: Bool { history.isKept }
}

/// The options of this module.
struct PastOptions: StoreOptionGroup {
  var history = StoreHistory.off
  var runLimits = RunLimits()
  var viewBuildingMin = 512
}
