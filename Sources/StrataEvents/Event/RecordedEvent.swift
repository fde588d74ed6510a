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
  /// The own time of its append: the one that was given for it, otherwise its commit time. It can be earlier than that of
  /// the event before; events are ordered by their sequences.
  public var time: Timestamp
  public var payload: EventPayload
  /// The codec's number as recorded. If the number is unknown, `payload.codec` is `.bytes`.
  package var codecNumber: UInt64
  /// The metadata as recorded: empty, or a CBOR map.
  package var metadataBytes: [UInt8]
  public var state: State

  /// Decodes the metadata. Throws `undecodable` if it is damaged, or is not an object.
  public func metadata() throws(StoreError) -> DocumentObject {
    guard !metadataBytes.isEmpty else { return [:] }
    let value: DocumentValue
    do throws(CodecError) { value = try DocumentValue(cbor: metadataBytes) } catch {
      throw .undecodable(what: "the metadata of event \(sequence) is damaged: \(error)")
    }
    guard case .object(let object) = value else {
      throw .undecodable(what: "the metadata of event \(sequence) is not an object")
    }
    return object
  }

  /// Decodes the payload as a document. Throws `undecodable` if it cannot be decoded.
  public func document() throws(StoreError) -> DocumentValue { try payload.document() }
}

extension RecordedEvent: Identifiable {
  /// The event's sequence, which no other event of its store has.
  public var id: UInt64 { sequence }
}

/// One append of the log: what one caller wrote atomically.
public struct RecordedAppend: Sendable, Equatable {
  /// The commit time, which is never earlier than that of the append before.
  public var time: Timestamp
  /// The time that the clock or the caller gave, if it differs from the commit time.
  public var givenTime: Timestamp?
  /// The time that counts where a time is asked for, which is that of each of the events.
  package var ownTime: Timestamp { givenTime.map { min($0, time) } ?? time }
  /// The id that the caller gave, if any.
  public var id: String?
  /// The events, in order, without those that a feed's selection leaves out. Never empty.
  public var events: [RecordedEvent]
  /// The sequences of all of the append's events, selected or not.
  public let sequences: ClosedRange<UInt64>
  /// The chain values of the append's block.
  private let chains: BlockChains

  package init(
    time: Timestamp, givenTime: Timestamp?, id: String?, events: [RecordedEvent],
    sequences: ClosedRange<UInt64>, chains: BlockChains
  ) {
    self.time = time
    self.givenTime = givenTime
    self.id = id
    self.events = events
    self.sequences = sequences
    self.chains = chains
  }

  /// The position after the append, which a consumer may store: a feed that begins there delivers what follows.
  ///
  /// It is computed when it is first asked for, once for all appends of one block of the log: about 0.2 µs an event.
  /// Until then the append keeps its block, of about 64 KiB, in memory. Throws `damaged` if the block has no such
  /// event.
  public var position: LogPosition {
    get throws(StoreError) {
      LogPosition(sequence: sequences.upperBound, chain: try chains.chain(after: sequences.upperBound))
    }
  }

  public static func == (a: RecordedAppend, b: RecordedAppend) -> Bool {
    a.sequences == b.sequences && a.time == b.time && a.givenTime == b.givenTime && a.id == b.id
      && a.events == b.events
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
    state = State(view.kind)
  }
}

extension RecordedEvent.State {
  init(_ kind: UInt8) {
    switch kind {
    case EventKind.event: self = .whole
    case EventKind.erased: self = .erased
    default: self = .opaque(kind: kind)
    }
  }
}

extension RecordedAppend {
  /// Returns the appends of a block whose last event comes after `sequence`, each with the selected ones of its events;
  /// those without any are left out.
  package static func appends(
    in block: DecodedBlock, after sequence: UInt64, selecting selection: EventSelection? = nil
  ) throws(ContentProblem) -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    let chains = BlockChains(block)
    try block.forEachAppend { view, first throws(ContentProblem) in
      let last = first + UInt64(view.eventCount) - 1
      guard last > sequence else { return }
      var events: [RecordedEvent] = []
      // The count comes from the file, and an event takes far more room in memory than on disk: do not trust it.
      if selection == nil { events.reserveCapacity(min(view.eventCount, 4096)) }
      var cursor = view.events
      for number in first...last {
        do throws(DecodingProblem) {
          let event = try cursor.nextEvent()
          if let selection, !selection.contains(event, sequence: number, time: view.ownTime) { continue }
          events.append(RecordedEvent(event, sequence: number, time: view.ownTime))
        } catch { throw ContentProblem(error) }
      }
      guard cursor.remaining == 0 else { throw .damaged("an append holds more than its events") }
      if events.isEmpty { return }
      appends.append(
        RecordedAppend(
          time: Timestamp(nanoseconds: view.commitTime),
          givenTime: view.given.map { Timestamp(nanoseconds: $0) },
          id: view.id.isEmpty ? nil : String(decoding: view.id, as: UTF8.self), events: events,
          sequences: first...last, chains: chains))
    }
    return appends
  }
}
