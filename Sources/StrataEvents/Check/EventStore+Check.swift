// Checking what an application can read of its log, before its users find out.

internal import StrataBase
internal import StrataLog

extension EventStore {
  /// Reads the log, and returns what the given types can no longer decode.
  ///
  /// Every event is decoded as each of the types that it belongs to. An event whose type none of them has is a problem
  /// too. Events with erased content are passed over, and so are those that Strata writes itself: documents, erasures,
  /// and positions of consumers.
  ///
  /// The check runs on a thread of its own, and takes as long as a projection of the same events. In a test, run it
  /// on a backup of a real store:
  ///
  /// ```swift
  /// enum TicketEvent: DomainEvent { case opened(title: String), closed }
  ///
  /// let store = try await EventStore.open(at: "backup.strata", .readOnly)
  /// let check = try await store.check(decoding: [TicketEvent.self])
  /// print(check)  // "all 4096 events can be read", or a line for each type that cannot
  /// ```
  ///
  /// - Parameters:
  ///   - types: all types of events that the application has.
  ///   - otherTypes: event types that it reads by other means.
  ///   - decoding: how to treat fields that a Swift type does not have, if not as the type itself says.
  ///   - start: checks the events after this point.
  ///   - end: checks the events up to this point.
  ///   - progress: called from time to time on the check's thread, with the number of events that are done, and of all.
  /// - Throws: `invalid` if the upcasts of one of the types are not clear; `position` if the log does not have one of
  ///   the points; `damaged` if the log is;
  ///   `CancellationError` soon after the task is cancelled.
  public func check(
    decoding types: [any DomainEvent.Type], otherTypes: Set<String> = [], as decoding: EventDecoding? = nil,
    after start: LogPoint = .beginning, through end: LogPoint = .head,
    progress: @escaping @Sendable (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) async throws -> EventCheck {
    let run = CheckRun(
      store: self, types: types, otherTypes: otherTypes, decoding: decoding, start: start, end: end,
      progress: progress)
    // On a separate thread: a check takes long, and the shared threads serve all reads.
    let thread = machine.thread("strata-check")
    let result = await withTaskCancellationHandler {
      await thread.result { () throws(StoreError) in try run.run() }
    } onCancel: {
      run.isCancelled.withLock { $0 = true }
    }
    guard let check = try result.get() else { throw CancellationError() }
    return check
  }
}

/// One check.
private struct CheckRun: Sendable {
  let store: EventStore
  let types: [any DomainEvent.Type]
  let otherTypes: Set<String>
  let decoding: EventDecoding?
  let start: LogPoint
  let end: LogPoint
  let progress: @Sendable (UInt64, UInt64) -> Void
  let isCancelled = Lock(false)

  /// Returns nil if the check was cancelled. Blocks.
  func run() throws(StoreError) -> EventCheck? {
    for type in types { try type.checkUpcasts() }
    let begin = try store.sequenceBlocking(of: start)
    let last = try store.sequenceBlocking(of: end)
    var check = EventCheck()
    guard begin < last else { return check }
    var cursor = store.log.cursor(after: begin)
    while cursor.lastSequence < last {
      let after = cursor.lastSequence
      guard let block = try cursor.next() else { throw .closed }
      let appends: [RecordedAppend]
      do throws(ContentProblem) { appends = try RecordedAppend.appends(in: block, after: after) } catch {
        throw error.storeError(of: block.header, through: last)
      }
      for append in appends {
        if isCancelled.withLock({ $0 }) { return nil }
        for event in append.events where event.sequence > after && event.sequence <= last {
          self.check(event, &check)
        }
      }
      progress(min(cursor.lastSequence, last) - begin, last - begin)
    }
    return check
  }

  private func check(_ event: RecordedEvent, _ check: inout EventCheck) {
    switch event.state {
    case .erased: return
    case .opaque(let kind):
      check.eventCount += 1
      return check.add(.opaque, event, "a newer version of Strata wrote an event of kind \(kind)")
    case .whole: break
    }
    guard event.type.utf8.first != UInt8(ascii: "$") else { return }
    check.eventCount += 1
    var isKnown = otherTypes.contains(event.type)
    for type in types {
      do throws(StoreError) {
        if try type.has(event, decoding) { isKnown = true }
      } catch {
        isKnown = true
        check.add(.unreadable, event, error.what)
        break
      }
    }
    if !isKnown { check.add(.unknownType, event, "none of the given types has this event type") }
  }
}

extension DomainEvent {
  /// Throws `invalid` if the upcasts are not clear.
  fileprivate static func checkUpcasts() throws(StoreError) {
    if !upcasts.isEmpty { _ = try UpcastPlans.plan(of: Self.self) }
  }

  /// Whether an event belongs to this type. Throws if it does and does not decode.
  fileprivate static func has(
    _ event: RecordedEvent, _ decoding: EventDecoding?
  ) throws(StoreError) -> Bool {
    try values(of: event, decoding ?? eventDecoding) != nil
  }
}
