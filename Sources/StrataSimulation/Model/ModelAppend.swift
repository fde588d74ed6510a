// An append as plain values, which a test appends and expects to read back.

package import StrataLog

/// One event of the model.
package struct ModelEvent: Hashable, Sendable {
  /// The state of the event's content in the log.
  package enum State: Hashable, Sendable {
    case whole
    /// An erasure of the content was begun, and may have been interrupted.
    case perhapsErased
    case erased
  }

  package var stream: String
  package var type: String
  package var codec: UInt64
  package var metadata: [UInt8]
  package var payload: [UInt8]
  package var state = State.whole

  package init(
    stream: String, type: String, codec: UInt64 = 3, metadata: [UInt8] = [], payload: [UInt8] = []
  ) {
    self.stream = stream
    self.type = type
    self.codec = codec
    self.metadata = metadata
    self.payload = payload
  }
}

extension ModelEvent {
  /// True if a log that should hold `expected` may hold this event.
  fileprivate func isFound(for expected: ModelEvent) -> Bool {
    guard expected.state == .perhapsErased else { return self == expected }
    guard state == .erased else {
      var whole = expected
      whole.state = .whole
      return self == whole
    }
    return stream == expected.stream && type == expected.type
  }
}

/// One append of the model. The sequence and the time are those that the log gave it; before that, 0 and nil.
package struct ModelAppend: Hashable, Sendable {
  package var first: UInt64 = 0
  package var id: String?
  package var given: Int64?
  package var time: Int64?
  package var events: [ModelEvent]

  package init(_ events: [ModelEvent], id: String? = nil, given: Int64? = nil) {
    self.events = events
    self.id = id
    self.given = given
  }

  package var last: UInt64 { first + UInt64(events.count) - 1 }
  /// The time that counts where a time is asked for.
  package var ownTime: Int64? { given ?? time }

  /// True if this append, as read from a log, equals the expected one, except for the values that the log chooses.
  package func hasSameContent(as expected: ModelAppend) -> Bool {
    id == expected.id && events.count == expected.events.count
      && zip(events, expected.events).allSatisfy { $0.isFound(for: $1) }
  }

  /// Returns the append in the form that the log takes.
  package func draft(expecting: [(stream: String, version: ExpectedVersion)] = []) -> AppendDraft {
    let draft = AppendDraft()
    draft.id = Array((id ?? "").utf8)
    draft.given = given
    for event in events {
      Array(event.stream.utf8).withUnsafeBytes { stream in
        Array(event.type.utf8).withUnsafeBytes { type in
          event.metadata.withUnsafeBytes { metadata in
            event.payload.withUnsafeBytes { payload in
              draft.add(
                stream: stream, type: type, codec: event.codec, metadata: metadata, payload: payload)
            }
          }
        }
      }
    }
    draft.expectations = expecting.map { .init(stream: Array($0.stream.utf8), version: $0.version) }
    return draft
  }
}

extension Log {
  /// Returns every visible append after a sequence, decoded, with the revisions of its events in order.
  package func modelAppends(
    after sequence: UInt64 = 0
  ) throws(StoreError) -> [(append: ModelAppend, revisions: [UInt64])] {
    var found: [(append: ModelAppend, revisions: [UInt64])] = []
    var cursor = cursor(after: sequence)
    while let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.verifyContent()
        try block.forEachAppend { view, first throws(ContentProblem) in
          guard first + UInt64(view.eventCount) - 1 > sequence else { return }
          var append = ModelAppend([], id: view.id.isEmpty ? nil : String(decoding: view.id, as: UTF8.self))
          append.first = first
          append.time = view.commitTime
          append.given = view.given
          var revisions: [UInt64] = []
          var events = view.events
          for _ in 0..<view.eventCount {
            let event: EventView
            do throws(DecodingProblem) { event = try events.nextEvent() } catch {
              throw ContentProblem(error)
            }
            revisions.append(event.revision)
            var found = ModelEvent(
              stream: String(decoding: event.stream, as: UTF8.self),
              type: String(decoding: event.type, as: UTF8.self), codec: event.codec,
              metadata: Array(event.metadata), payload: Array(event.payload))
            if event.kind == EventKind.erased { found.state = .erased }
            append.events.append(found)
          }
          found.append((append, revisions))
        }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
    return found
  }
}
