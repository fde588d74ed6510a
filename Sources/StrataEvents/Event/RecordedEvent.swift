// Events and appends as they are recorded in the log.

internal import StrataBase
internal import StrataDocuments
public import StrataLog

/// One event of the log.
public struct RecordedEvent: Sendable, Equatable {
  /// The state of an event's content in the log.
  public enum State: Sendable, Equatable {
    case whole
    /// The content was erased; stream, type, revision and time remain.
    case erased
    /// A newer version wrote the event in a form that this version cannot read.
    case opaque(kind: UInt8)
  }

  /// The event's position in the whole log, from 1.
  public var sequence: UInt64
  /// The event's position in its stream, from 1.
  public var revision: UInt64
  public var stream: StreamName
  public var type: String
  /// The commit time of its append.
  public var time: Timestamp
  public var payload: EventPayload
  /// The codec's number as recorded. If the number is unknown, `payload.codec` is `.bytes`.
  package var codecNumber: UInt64
  /// The metadata as recorded: empty, or a CBOR map.
  package var metadataBytes: [UInt8]
  public var state: State

  /// Decodes the metadata. Throws `invalid` if it is damaged, or is not an object.
  public func metadata() throws(StoreError) -> DocumentObject {
    guard !metadataBytes.isEmpty else { return [:] }
    let value: DocumentValue
    do throws(CodecError) { value = try DocumentValue(cbor: metadataBytes) } catch {
      throw .invalid(what: "the metadata of event \(sequence) is damaged: \(error)")
    }
    guard case .object(let object) = value else {
      throw .invalid(what: "the metadata of event \(sequence) is not an object")
    }
    return object
  }

  /// Decodes the payload as a document. Throws `invalid` if it cannot be decoded.
  public func document() throws(StoreError) -> DocumentValue { try payload.document() }
}

/// One append of the log: what one caller wrote atomically.
public struct RecordedAppend: Sendable, Equatable {
  /// The commit time, which is never earlier than that of the append before.
  public var time: Timestamp
  /// The time that the clock or the caller gave, if it differs from the commit time.
  public var givenTime: Timestamp?
  /// The id that the caller gave, if any.
  public var id: String?
  /// The events, in order. Never empty.
  public var events: [RecordedEvent]

  /// The sequences of the append's events.
  public var sequences: ClosedRange<UInt64> {
    let first = events.first?.sequence ?? 1
    return first...(events.last?.sequence ?? first)
  }
}

extension RecordedEvent {
  package init(_ view: borrowing EventView, sequence: UInt64, time: Int64) {
    self.sequence = sequence
    revision = view.revision
    stream = StreamName(recorded: view.stream)
    type = String(decoding: view.type, as: UTF8.self)
    self.time = Timestamp(nanoseconds: time)
    codecNumber = view.codec
    payload = EventPayload(codec: PayloadCodec(rawValue: view.codec) ?? .bytes, bytes: Array(view.payload))
    metadataBytes = Array(view.metadata)
    switch view.kind {
    case EventKind.event: state = .whole
    case EventKind.erased: state = .erased
    default: state = .opaque(kind: view.kind)
    }
  }
}

extension RecordedAppend {
  /// Returns the appends of a block whose last event comes after `sequence`.
  package static func appends(
    in block: DecodedBlock, after sequence: UInt64
  ) throws(ContentProblem) -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    try block.forEachAppend { view, first throws(ContentProblem) in
      let last = first + UInt64(view.eventCount) - 1
      guard last > sequence else { return }
      var events: [RecordedEvent] = []
      // The count comes from the file, and an event takes far more room in memory than on disk: do not trust it.
      events.reserveCapacity(min(view.eventCount, 4096))
      var cursor = view.events
      for number in first...last {
        do throws(DecodingProblem) {
          events.append(RecordedEvent(try cursor.nextEvent(), sequence: number, time: view.commitTime))
        } catch { throw ContentProblem(error) }
      }
      guard cursor.remaining == 0 else { throw .damaged("an append holds more than its events") }
      appends.append(
        RecordedAppend(
          time: Timestamp(nanoseconds: view.commitTime),
          givenTime: view.given.map { Timestamp(nanoseconds: $0) },
          id: view.id.isEmpty ? nil : String(decoding: view.id, as: UTF8.self), events: events))
    }
    return appends
  }
}
