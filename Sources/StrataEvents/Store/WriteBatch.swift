// What `write` gathers: documents and events for one append.

internal import StrataDocuments
public import StrataLog

/// Gathers documents and events that become one append: all of them, or none.
public struct WriteBatch {
  let store: EventStore
  var events: [NewEvent] = []
  private(set) var expectations: [StreamName: ExpectedVersion] = [:]

  init(store: EventStore) { self.store = store }

  /// Appends events of an application's own to a stream, which may be expected to hold something.
  public mutating func append<Value: Event>(
    _ values: [Value], to stream: StreamName, metadata: DocumentObject = [:],
    expecting version: ExpectedVersion = .any
  ) throws(StoreError) {
    let encoded = try store.newEvents(values, to: stream, metadata: metadata)
    try expect(version, of: stream)
    events += encoded
  }

  /// Appends one event.
  public mutating func append(_ event: NewEvent, expecting version: ExpectedVersion = .any) throws(StoreError)
  {
    try expect(version, of: event.stream)
    events.append(event)
  }

  /// An expectation speaks of the stream before this append, so a second one for the same stream must be the
  /// same.
  private mutating func expect(_ version: ExpectedVersion, of stream: StreamName) throws(StoreError) {
    guard version != .any else { return }
    if let earlier = expectations[stream], earlier != version {
      throw .invalid(what: "\(stream) is expected to be at \(earlier) and at \(version) in one append")
    }
    expectations[stream] = version
  }
}
