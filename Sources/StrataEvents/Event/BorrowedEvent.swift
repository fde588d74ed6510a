// An event as it is in memory, while a read looks at it.

internal import StrataBase
internal import StrataLog

/// One event of the log for the time of a call, without a copy of its content: see
/// `EventStore.withEventBlocking(at:_:)`.
public struct BorrowedEvent: ~Copyable {
  /// The event's position in the whole log, from 1.
  public let sequence: UInt64
  /// The own time of its append: the one that was given for it, otherwise its commit time.
  public let time: Timestamp
  private let view: EventView

  init(_ view: EventView, sequence: UInt64, time: Int64) {
    self.view = view
    self.sequence = sequence
    self.time = Timestamp(nanoseconds: time)
  }

  /// The event's position in its stream, from 1.
  public var revision: UInt64 { view.revision }
  /// The stream, whose name is copied at each call.
  public var stream: StreamName { StreamName(recorded: view.stream) }
  /// The type, whose name is copied at each call.
  public var type: String { String(decoding: view.type, as: UTF8.self) }
  /// The encoding of the payload.
  public var codec: PayloadCodec { PayloadCodec(rawValue: view.codec) ?? .bytes }
  /// Whether the content is there. An erased event has an empty payload.
  public var state: RecordedEvent.State { RecordedEvent.State(view.kind) }
  /// The same event with a copy of its content.
  public var copy: RecordedEvent { RecordedEvent(view, sequence: sequence, time: time.nanoseconds) }
}
