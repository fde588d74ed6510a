// One step of a live list.

public import StrataEvents

/// A list before and after, and what changed in between.
public struct ListUpdate<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  public enum Reason: Hashable, Sendable {
    /// The first update of an iteration: show `after` whole. `before` is nil and `changes` is empty.
    case initial
    /// The first update of an iteration that goes on from a token: `before` is the list at the token.
    case resumed
    /// The first update of an iteration that was to go on from a token behind the end of the log, whose torn tail
    /// was cut off since: show `after` whole. `before` is nil and `changes` is empty.
    case restarted
    /// Something was appended.
    case changed
    /// The request was replaced by `apply`; something may have been appended too.
    case reconfigured
    /// A scrubber was moved to another point of the log.
    case moved
  }

  public var reason: Reason
  /// What this iteration delivered last; the list at the token where it was resumed, and nil where `after` is to
  /// be shown whole.
  public var before: FetchSnapshot<Item, Section>?
  public var after: FetchSnapshot<Item, Section>
  /// Applied to `before` they give `after`.
  public var changes: ListChanges<Item.ID, Section>

  package init(
    reason: Reason, before: FetchSnapshot<Item, Section>?, after: FetchSnapshot<Item, Section>,
    changes: ListChanges<Item.ID, Section>
  ) {
    self.reason = reason
    self.before = before
    self.after = after
    self.changes = changes
  }

  /// Everything up to this sequence is in `after`.
  public var sequence: UInt64 { after.sequence }
}
