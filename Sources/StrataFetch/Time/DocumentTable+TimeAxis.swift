// How many documents were in each group at the end of each hour, day, week or month.

internal import StrataBase
internal import StrataDocuments
public import StrataEvents
public import StrataLists
internal import StrataLog
public import StrataTables

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DocumentTable {
  /// Counts the documents by the values of fields, at the end of each step of a range of the log.
  ///
  /// ```swift
  /// import Foundation
  ///
  /// func statusesByDay(_ store: EventStore, _ zone: TimeZone) async throws {
  ///   let axis = try await store.documents("incident").timeAxis(by: FieldPath("status"), every: .day, in: zone)
  ///   for step in axis { print(step.begin.date, step.groups.map { ($0.values[0], $0.count) }) }
  /// }
  /// ```
  ///
  /// One pass over the log up to the end of the range, O(events), in which of each row only the named fields are kept; no
  /// state is made for a step. `TimeAxis` says which state a step shows. Rows from before the range are counted too.
  ///
  /// Throws `store(.position)` if the log does not have a point, `store(.invalid)` for more than 100,000 steps and
  /// for a path that is no field of the document, and `CancellationError` as soon as the task is cancelled.
  ///
  /// - Parameters:
  ///   - fields: the fields that make the groups. Without one, all rows are one group.
  ///   - step: how long a step is.
  ///   - zone: the zone whose clocks the steps follow: a day in which they are changed has 23 or 25 hours.
  ///   - start: where the axis begins. A time is in the first step; of any other point, the first append after it is.
  ///   - end: where the axis ends. A time is no part of it: the last step is the one before it.
  ///   - sum: the field whose numbers are added up. The sum is exact, and rounded once at its end.
  ///   - filter: which rows are counted. `$section` is null here.
  public func timeAxis(
    by fields: FieldPath..., every step: CalendarStep, in zone: TimeZone, from start: LogPoint = .beginning,
    to end: LogPoint = .head, sum: FieldPath? = nil, where filter: RowFilter? = nil
  ) async throws -> TimeAxis {
    try await timeAxis(
      AxisRequest(by: fields, sum: sum, filter: filter), every: step, in: zone, from: start, to: end)
  }

  /// The same for a request that was made before.
  package func timeAxis(
    _ request: AxisRequest, every step: CalendarStep, in zone: TimeZone, from start: LogPoint,
    to end: LogPoint
  ) async throws -> TimeAxis {
    guard (request.by + [request.sum].compactMap { $0 }).allSatisfy({ $0.subject == .field }) else {
      throw ListError.store(
        .invalid(
          what: "a time axis counts by fields of the document, and adds up one",
          next: "name fields, such as FieldPath(\"status\"); rows are chosen by $id with a filter"))
    }
    let steps = CalendarSteps(step) { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
    let run = TimeAxisRun(store, category, request, steps, from: start, to: end)
    return try await ListError.wrapping {
      try await store.machine.past.result { slice in try run.resume(slice) }
    }
  }
}

extension DocumentCollection {
  /// Counts the documents by the values of fields, at the end of each step of a range of the log, as
  /// `DocumentTable.timeAxis` does.
  public func timeAxis(
    by fields: FieldPath..., every step: CalendarStep, in zone: TimeZone, from start: LogPoint = .beginning,
    to end: LogPoint = .head, sum: FieldPath? = nil, where filter: RowFilter? = nil
  ) async throws -> TimeAxis {
    try await store.documents(category).timeAxis(
      AxisRequest(by: fields, sum: sum, filter: filter), every: step, in: zone, from: start, to: end)
  }
}

/// Looks up the points, and then folds. Belongs to one thread at a time.
private final class TimeAxisRun: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let table: String
  private let request: AxisRequest
  private let steps: CalendarSteps
  private let (start, end): (LogPoint, LogPoint)
  private var fold: TimeAxisFold?

  init(
    _ store: EventStore, _ table: String, _ request: AxisRequest, _ steps: CalendarSteps,
    from start: LogPoint, to end: LogPoint
  ) {
    (self.store, self.table, self.request, self.steps) = (store, table, request, steps)
    (self.start, self.end) = (start, end)
  }

  func resume(_ slice: TimeSlice) throws(StoreError) -> TimeAxis? {
    if let fold { return try fold.resume(slice) }
    let fold = try begin()
    self.fold = fold
    return try fold.resume(slice)
  }

  private func begin() throws(StoreError) -> TimeAxisFold {
    let (since, until) = (start.nanoseconds, end.nanoseconds)
    // The end is no part of the axis.
    let last = until.map { LogPoint.time(Timestamp(nanoseconds: $0 > .min ? $0 - 1 : $0)) } ?? end
    let (after, through) = (try store.sequenceBlocking(of: start), try store.sequenceBlocking(of: last))
    let axisSteps = try TimeAxisSteps(
      store.log, steps, after: min(after, through), through: through, since: since, until: until,
      now: store.log.options.clock.now())
    return TimeAxisFold(store.log, table, request, axisSteps)
  }
}

extension LogPoint {
  fileprivate var nanoseconds: Int64? { if case .time(let time) = self { time.nanoseconds } else { nil } }
}
