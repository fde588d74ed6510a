// What a consumer has in the log: its position, and the appends that it could not handle.

internal import StrataDocuments
internal import StrataLog

/// An append that a consumer's handler refused.
public struct ConsumerFailure: Sendable, Hashable, Codable {
  /// The append's first event.
  public var sequence: UInt64
  /// The handler's error; shortened or empty where the consumer's state would be too long.
  public var what: String

  package init(sequence: UInt64, what: String) {
    self.sequence = sequence
    self.what = what
  }
}

/// How far a consumer is.
public struct ConsumerStatus: Sendable, Hashable {
  public var name: String
  /// The position that is in the store; nil if none is yet.
  public var position: LogPosition?
  /// When it was saved.
  public var savedAt: Timestamp?
  /// How many events after the position wait to be handled.
  public var lag: UInt64
  /// False if `lag` may be too large: what a selection says about payloads and metadata is not in the store, so
  /// ``EventStore/consumers()`` also counts the events that only such a condition leaves out. ``Consumer/status()`` does
  /// not count them.
  public var isLagExact: Bool
  /// Whether no event can ever pass the selection, because its types exclude each other, or because no event has such a
  /// name: the consumer never receives anything, and is wrong.
  public var selectsNothing: Bool
  /// The append at which the consumer stopped; nil once it was handled. For a position that cannot be read, the event that
  /// should say it.
  public var lastError: ConsumerFailure?
  /// How many appends were set aside.
  public var setAsideCount: UInt64
  /// The first hundred of them; none where the longest payload has no room for them. Their texts are at most 16 KiB
  /// together: those of the last ones are shortened, down to nothing.
  public var setAside: [ConsumerFailure]
}

/// The whole state of a consumer. Every event of the consumer's stream has all of it, so the last one is enough.
struct ConsumerState: Codable, Equatable {
  /// `SEQUENCE@CHAIN`: everything up to there was handled. Nil before the first append was.
  var at: String?
  var lastError: ConsumerFailure?
  var setAsideCount: UInt64 = 0
  var setAside: [ConsumerFailure] = []
  /// What the consumer receives; nil for everything.
  var selection: NamedSelection?
  /// The appends that led to the effects in the same append, if there are several: of each the sequence of its last event
  /// and the number of its effects, in the order of the effects. Nil if all are effects of the append that ends at `at`.
  var causes: [UInt64]?

  /// The type of an event with a state.
  static let saved = "$consumed"
  /// The type of the event with which a consumer is deleted.
  static let deleted = "$forgotten"
  /// How many of the appends that were set aside are listed.
  static let listedCountMax = 100
  /// The longest text of an error that is kept, in UTF-8 bytes.
  static let textLengthMax = 1000
  /// The longest texts of all listed appends together, in UTF-8 bytes: each save writes them again.
  static let textsLengthMax = 16 << 10

  static func stream(of name: String) -> StreamName {
    StreamName(category: StreamName.consumerCategory, id: name)
  }

  /// Reads a state from the last event of a consumer's stream; nil if the consumer was deleted.
  init?(_ event: RecordedEvent) throws(StoreError) {
    guard event.type != Self.deleted else { return nil }
    guard event.state == .whole, event.type == Self.saved else {
      throw .undecodable(
        what:
          "\(event.stream) does not say where its consumer is: event \(event.sequence) is \(event.state), "
          + "and of type \(event.type)",
        next: "delete the consumer, and begin it anew where it should go on")
    }
    do { self = try event.payload.document().decode(Self.self) } catch {
      throw .undecodable(
        what:
          "the state of the consumer in \(event.stream), event \(event.sequence), cannot be read: \(error)",
        next: "delete the consumer, and begin it anew where it should go on")
    }
  }

  /// The same for a list of consumers, which one that cannot be read does not hide: it has no position, and the reason as
  /// its last error.
  static func listed(_ event: RecordedEvent) -> (state: ConsumerState, isReadable: Bool)? {
    do throws(StoreError) { return try ConsumerState(event).map { ($0, true) } } catch {
      var state = ConsumerState()
      state.lastError = ConsumerFailure(sequence: event.sequence, what: "\(error)")
      return (state, false)
    }
  }

  init() {}

  /// The position as text in the log.
  var position: LogPosition? { at.flatMap { LogPosition($0) } }

  /// The event that saves this state. What the longest payload has no room for is left out: first the texts of errors,
  /// then the list of what was set aside, then the last error. O(bytes).
  func event(in stream: StreamName, payloadSizeMax: Int) throws(StoreError) -> NewEvent {
    var shorter = self
    var event = try wholeEvent(in: stream)
    for leaveOut in Self.omissions where event.payload.bytes.count > payloadSizeMax {
      leaveOut(&shorter)
      event = try shorter.wholeEvent(in: stream)
    }
    return event
  }

  private static let omissions: [@Sendable (inout ConsumerState) -> Void] = [
    { state in
      for index in state.setAside.indices { state.setAside[index].what = "" }
      state.lastError?.what = ""
    },
    { $0.setAside = [] },
    { $0.lastError = nil },
  ]

  private func wholeEvent(in stream: StreamName) throws(StoreError) -> NewEvent {
    do { return NewEvent(Self.saved, in: stream, try DocumentValue(encoding: self)) } catch {
      throw .invalid(what: "the state of \(stream) cannot be encoded: \(error)")
    }
  }

  /// Everything up to a position was handled.
  mutating func pass(_ position: LogPosition) {
    at = position.description
    if let failure = lastError, failure.sequence <= position.sequence { lastError = nil }
  }

  mutating func setAside(_ failure: ConsumerFailure) {
    // Once the list had to be left out, what is set aside later is not the first.
    let listsAll = UInt64(setAside.count) == setAsideCount
    setAsideCount = setAsideCount &+ 1
    if listsAll, setAside.count < Self.listedCountMax { setAside.append(failure) }
  }

  /// Shortens the texts of what was set aside, from the one on that is too long beside those before it. O(listed).
  mutating func shortenTexts() {
    var left = Self.textsLengthMax
    for index in setAside.indices {
      setAside[index].what = setAside[index].what.shortened(within: left)
      left -= setAside[index].what.utf8.count
    }
  }
}

extension ConsumerFailure {
  init(_ append: RecordedAppend, _ error: any Error) {
    sequence = append.sequences.lowerBound
    what = String(describing: error).shortened(toUTF8Count: ConsumerState.textLengthMax)
  }
}
