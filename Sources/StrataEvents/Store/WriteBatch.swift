// The batch that `write` fills: documents and events for one append.

internal import StrataDocuments
public import StrataLog

/// Collects documents and events that become one append: all of them are appended, or none.
public struct WriteBatch {
  let store: EventStore
  var events: [NewEvent] = []
  private(set) var expectations: [StreamName: ExpectedVersion] = [:]

  init(store: EventStore) { self.store = store }

  /// Adds an application's own events for a stream, and optionally the version that the stream must have.
  public mutating func append<Value: DomainEvent>(
    _ values: [Value], to stream: StreamName, metadata: DocumentObject = [:],
    expecting version: ExpectedVersion = .any
  ) throws(StoreError) {
    let encoded = try store.newEvents(values, to: stream, metadata: metadata)
    try expect(version, of: stream)
    events += encoded
  }

  /// Adds one event, and optionally the version that its stream must have.
  public mutating func append(_ event: NewEvent, expecting version: ExpectedVersion = .any) throws(StoreError)
  {
    try expect(version, of: event.stream)
    events.append(event)
  }

  /// Records the expected version of a stream. It is about the stream before this append, so a second expectation for
  /// the same stream must mean the same as the first.
  private mutating func expect(_ version: ExpectedVersion, of stream: StreamName) throws(StoreError) {
    guard version != .any else { return }
    let version = version.inOneSpelling
    if let earlier = expectations[stream], earlier != version {
      throw .invalid(what: "one append has two expectations of \(stream): \(earlier), and \(version)")
    }
    expectations[stream] = version
  }
}

extension ExpectedVersion {
  /// The same expectation, in one spelling for those that mean the same.
  var inOneSpelling: ExpectedVersion { self == .exactly(0) ? .noStream : self }
}
