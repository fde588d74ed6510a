// The switch for checks of whole trees, which tests turn on.

/// Whether each change is followed by a check of the whole tree, and of the whole view or table that it belongs to. The
/// checks are assertions: without these, as in a release build, the switch does nothing.
package enum TreeCheck {
  /// On for what a task runs inside `$isOn.withValue(true)`. O(size) for each change then.
  @TaskLocal package static var isOn = false
}
