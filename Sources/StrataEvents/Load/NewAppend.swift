// An append of a load: events that are appended together, with what else `append` takes.

public import StrataLog

/// One append of a load: its events, and what `EventStore.append` takes beside them.
public struct NewAppend: Hashable, Sendable {
  /// At least one; they may belong to several streams.
  public var events: [NewEvent]
  /// 1 to 64 bytes of UTF-8, unique in the store. With ids a load can be repeated: what the store has is not appended
  /// again.
  public var id: String?
  /// The time to record instead of the clock's.
  public var time: Timestamp?
  /// The versions that streams must have.
  public var expecting: [StreamName: ExpectedVersion]

  public init(
    _ events: [NewEvent], id: String? = nil, time: Timestamp? = nil,
    expecting: [StreamName: ExpectedVersion] = [:]
  ) {
    self.events = events
    self.id = id
    self.time = time
    self.expecting = expecting
  }
}
