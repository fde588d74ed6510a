// The effects of several appends, before they are appended as one.

internal import StrataDocuments
internal import StrataLog

/// What a consumer's handler has added for several appends in a row.
struct ConsumerBatch {
  /// Bounds of one append.
  struct Limits {
    /// How many appends with effects.
    var count: Int
    /// How many bytes, by an estimate that is not too low.
    var size: Int
    /// How many numbers of the causes.
    var causeCount: Int
  }

  private let limits: Limits
  private var effects = ConsumerLedger.Effects()
  private var causes: [UInt64] = []
  private var size = 0
  /// How many events were added, by stream.
  private var added: [StreamName: UInt64] = [:]
  /// The last append that was handled.
  private(set) var last: RecordedAppend?
  /// How many of the appends had no effects.
  private(set) var idleCount = 0

  init(_ limits: Limits) { self.limits = limits }

  var isEmpty: Bool { last == nil }
  var isFull: Bool { causes.count >= min(2 * limits.count, limits.causeCount) }

  /// Whether the effects of one more append may become part of the same one. O(events).
  func hasRoom(for batch: WriteBatch) -> Bool { isEmpty || size + Self.size(of: batch.events) <= limits.size }

  /// What is appended, all together.
  var whole: ConsumerLedger.Effects {
    var whole = effects
    if causes.count > 2 || idleCount > 0 { whole.causes = causes }
    return whole
  }

  /// Adds what was handled. Returns false if not all expectations can be met by one append; then nothing was added.
  mutating func add(_ append: RecordedAppend, _ batch: WriteBatch) -> Bool {
    guard !batch.events.isEmpty else {
      idleCount += 1
      last = append
      return true
    }
    var expectations = effects.expectations
    for (stream, version) in batch.expectations {
      guard let version = atBegin(version, of: stream) else { return false }
      guard version != .any else { continue }
      if let earlier = expectations[stream], earlier != version { return false }
      expectations[stream] = version
    }
    effects.expectations = expectations
    for event in batch.events { added[event.stream, default: 0] += 1 }
    size += Self.size(of: batch.events)
    effects.events += batch.events
    causes += [append.sequences.upperBound, UInt64(batch.events.count)]
    last = append
    return true
  }

  /// An expectation about a stream with what was added to it, as one about the stream before that; nil if it cannot be
  /// met.
  private func atBegin(_ version: ExpectedVersion, of stream: StreamName) -> ExpectedVersion? {
    guard let count = added[stream] else { return version }
    switch version {
    case .any, .exists: return .any
    case .noStream: return nil
    case .exactly(let expected): return expected < count ? nil : .exactly(expected - count).inOneSpelling
    }
  }

  private static func size(of events: [NewEvent]) -> Int {
    events.reduce(0) { size, event in
      let metadata = event.metadata.isEmpty ? 0 : DocumentValue.object(event.metadata).cbor().count
      // The rest of an event: its hashes, lengths and salt, and the metadata that the store adds.
      return size + event.payload.bytes.count + event.stream.text.utf8.count + event.type.utf8.count
        + metadata
        + 256
    }
  }
}
