// Which append led to an effect.

public import StrataLog

/// The append that a consumer has handled when it appended an effect.
public struct EffectCause: Sendable, Hashable {
  /// The name of the consumer.
  public var consumer: String
  /// The sequence of the last event of the append that was handled: `append(holding:)` reads it.
  public var sequence: UInt64

  package init(consumer: String, sequence: UInt64) {
    self.consumer = consumer
    self.sequence = sequence
  }
}

extension EventStore {
  /// Returns which append led to an event, if a consumer by name has appended it as an effect; nil for any other event,
  /// for the position of the consumer itself, and for an effect whose record was erased. O(events of its append).
  ///
  /// - Throws: `undecodable` if the record of the consumer's position cannot be read.
  public func cause(of sequence: UInt64) async throws(StoreError) -> EffectCause? {
    guard let append = try await append(holding: sequence),
      // The position is the last event of the append that has the effects.
      let saved = append.events.last, saved.stream.category == StreamName.consumerCategory,
      saved.state == .whole,
      sequence < saved.sequence, let state = try ConsumerState(saved)
    else { return nil }
    guard let causes = state.causes else {
      return state.position.map { EffectCause(consumer: saved.stream.id, sequence: $0.sequence) }
    }
    var left = sequence - append.sequences.lowerBound
    for index in stride(from: 0, to: causes.count - 1, by: 2) {
      if left < causes[index + 1] { return EffectCause(consumer: saved.stream.id, sequence: causes[index]) }
      left -= causes[index + 1]
    }
    return nil
  }
}
