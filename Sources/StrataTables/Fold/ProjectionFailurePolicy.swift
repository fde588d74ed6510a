// What happens to an event that a projection cannot apply.

/// What a fold does at an event that its projection cannot apply.
///
/// There is no policy that tries again: `apply` is a pure function, so the same event fails in the same way every time.
/// What can change the result is another version of the projection, and that begins a fold of its own.
public enum ProjectionFailurePolicy: Sendable, Hashable {
  /// The event changes nothing, is listed among the failures, and the fold goes on. The default: one bad event does not
  /// take every list from its user.
  case record
  /// The fold stops before the event. Reads of its tables, and lists of them, throw `StoreError` with the reason
  /// `halted`, which names the event; so does a point of the past at which the event has happened. States before the
  /// event can still be read. For tables that are worse than none if an event is missing, such as balances.
  ///
  /// The fold goes on once the event can be applied: with a corrected projection, or after the event was erased.
  case halt
}
