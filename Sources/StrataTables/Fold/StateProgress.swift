// How far long work on a state has come.

/// How far a projector has come on the way to a state.
package enum StateProgress: Sendable {
  /// Events that were folded, of all events of the log up to the state.
  case events(Int, of: Int)
  /// Rows of a table that are in its view.
  case rows(Int, of: Int)
}
