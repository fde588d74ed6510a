// The switch for checks of whole trees, which tests enable.

/// Whether each change is followed by a check of the whole tree, and of the whole view or table that it belongs to. The
/// checks are assertions: in a build without assertions, such as a release build, the switch does nothing.
package enum TreeCheck {
  /// True for what a task runs inside `$isOn.withValue(true)`. Each change then costs O(size).
  @TaskLocal package static var isOn = false
}
