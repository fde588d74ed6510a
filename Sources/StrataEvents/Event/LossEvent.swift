// The events that stand for those that a recovered log does not have.

internal import StrataLog

/// What a recovery appends in place of an event that was lost, or whose content had been erased. It changes nothing, and
/// keeps the sequences of all other events.
package enum LossEvent {
  package static let stream: StreamName = "$recovery"
  package static let type = "$lost"

  static let filler = LogRecovery.Filler(
    stream: Array(stream.text.utf8), type: Array(type.utf8), codec: PayloadCodec.bytes.rawValue)
}
