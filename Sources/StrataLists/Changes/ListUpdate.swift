// One step of a live list.

public import StrataEvents

/// A list before and after a step, and the changes in between.
///
/// A live list makes them. A test without one makes its own, of two snapshots of a store in memory:
///
/// ```swift
/// typealias Incidents = ListSnapshot<Incident, String>
///
/// func update(from old: Incidents, to new: Incidents) -> ListUpdate<Incident, String> {
///   ListUpdate(reason: .changed, before: old, after: new, changes: ListChanges(from: old, to: new))
/// }
/// ```
public struct ListUpdate<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  public enum Reason: Hashable, Sendable {
    /// The first update of an iteration: show `after` as a whole. `before` is nil and `changes` is empty.
    case initial
    /// The first update of an iteration that resumes from a token: `before` is the list at the token.
    case resumed
    /// The first update of an iteration whose token is past the end of the log, because a torn tail was cut off since, or
    /// after which something was erased: show `after` as a whole. `before` is nil and `changes` is empty.
    case restarted
    /// Something was appended.
    case changed
    /// The request was replaced by `apply`, or the list is now of the rows that this build of the program makes, where
    /// it began with those that another one had saved. Something may have been appended too.
    case reconfigured
    /// A scrubber moved to another point of the log.
    case moved
  }

  public var reason: Reason
  /// The list that this iteration delivered last, or the list at the token if it was resumed; nil if `after` is to be
  /// shown as a whole.
  public var before: ListSnapshot<Item, Section>?
  public var after: ListSnapshot<Item, Section>
  /// The changes that turn `before` into `after`.
  public var changes: ListChanges<Item.ID, Section>

  /// Creates an update, whose parts are not checked against each other.
  ///
  /// - Parameter changes: those that turn `before` into `after`; none, where `after` is to be shown as a whole.
  public init(
    reason: Reason, before: ListSnapshot<Item, Section>?, after: ListSnapshot<Item, Section>,
    changes: ListChanges<Item.ID, Section>
  ) {
    self.reason = reason
    self.before = before
    self.after = after
    self.changes = changes
  }

  /// The sequence up to which `after` includes everything.
  public var sequence: UInt64 { after.sequence }
}
