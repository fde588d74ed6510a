// The options of an iteration over updates.

public import StrataEvents
public import StrataLists
internal import StrataTables

/// Which states of a list a consumer receives.
public enum UpdatePolicy: Hashable, Sendable {
  /// The newest state. A slow consumer receives one combined difference, and nothing waits for it.
  case latest
  /// The state at the end of every append that changed the list, however slow the consumer is. Nothing is queued: the
  /// consumer has its own fold, which continues from the consumer's position, so memory is bounded by the list and not
  /// by the log.
  case everyCommit
}

/// Where an iteration begins.
enum UpdateStart: Sendable {
  case newest
  case token(ListToken)
  case point(LogPoint)

  init(_ token: ListToken?) { self = token.map { .token($0) } ?? .newest }
}

/// The options of an iteration.
struct UpdateOptions<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  var policy = UpdatePolicy.latest
  var start = UpdateStart.newest
  var observed: ObservedFields<Item>?
  /// The shortest time between two updates; nil for none.
  var pace: Duration?

  init(
    policy: UpdatePolicy = .latest, start: UpdateStart = .newest,
    observed: ObservedFields<Item>? = nil,
    pace: Duration? = nil
  ) {
    (self.policy, self.start, self.observed, self.pace) = (policy, start, observed, pace)
  }
}

/// The fields whose updates are delivered.
enum ObservedFields<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  /// By field name, as UTF-8.
  case names(Set<[UInt8]>)
  /// By property: each closure returns whether the property is equal in two items.
  case properties([@Sendable (Item, Item) -> Bool])

  /// Removes the updates of rows in which no observed field changed, and returns how many those were. Insertions,
  /// deletions and moves stay, and so does an update whose changed fields are unknown.
  func filter<Section>(
    _ changes: inout ListChanges<Item.ID, Section>, from old: ListSnapshot<Item, Section>,
    to new: ListSnapshot<Item, Section>
  ) -> Int {
    let count = changes.updates.count
    changes.updates.removeAll { update in
      switch self {
      case .names(let names):
        if update.changedFields.isEmpty { return false }
        return !update.changedFields.contains { names.contains(Array($0.utf8)) }
      case .properties(let areEqual):
        guard let a = old.row(for: update.id), let b = new.row(for: update.id) else { return false }
        return areEqual.allSatisfy { $0(a, b) }
      }
    }
    return count - changes.updates.count
  }
}

extension FetchController {
  /// Every change of the list from now on, beginning with the current list.
  public var updates: ListUpdates<Item, Section> {
    ListUpdates(controller: self, options: UpdateOptions())
  }

  /// Every change of the list from now on, or from a token on.
  ///
  /// With a token, the first update is the difference since the token, with the reason `.resumed`; a replay rebuilds
  /// the list at the token, unless nothing was appended since. Under `.everyCommit`, the first update is the list at
  /// the token without changes, and each append after it that changes the list is a separate update. If the log no
  /// longer reaches the token, because a torn tail was cut off, or something was erased after it, the iteration starts
  /// with the whole list and the reason `.restarted`.
  ///
  /// Iterations throw `tokenExpired` if the log was trimmed past the token, `otherStore` if the token is of another
  /// store, and `.store(.diverged)` if the log up to the token is not the one that the token was made from.
  ///
  /// - Parameter pace: the shortest time between two updates, counted from the moment at which one is delivered. Changes
  ///   in between are part of the next update, whose `before` is the list that was delivered last: nothing is lost, and
  ///   for as long nothing is folded for this iteration either. The first change after a quiet time is delivered at once.
  ///   Cancellation and the end of the list do not wait. Under `.everyCommit`, no update is left out for the pace. Nil or
  ///   zero for no pace.
  public func updates(
    _ policy: UpdatePolicy = .latest, every pace: Duration? = nil, since token: ListToken? = nil
  ) -> ListUpdates<Item, Section> {
    ListUpdates(
      controller: self,
      options: UpdateOptions(policy: policy, start: UpdateStart(token), pace: pace))
  }

  /// Every change of the list since a point of the log: the beginning, a sequence, a position, or a time.
  ///
  /// The first update is the difference from the list at the point to the newest one, with the reason `.resumed`. Under
  /// `.everyCommit`, it is the list at the point without changes, and each append after it that changes the list is a
  /// separate update. A point inside an append means the append's beginning, and `.head` for now. A replay rebuilds
  /// the list at the point: O(events up to it).
  ///
  /// Iterations throw `.store` with what the point is refused for: it is past the end of the log, before its first
  /// event, or a position of another history.
  ///
  /// - Parameter pace: as in `updates(_:every:since:)`.
  public func updates(
    _ policy: UpdatePolicy = .latest, every pace: Duration? = nil, from point: LogPoint
  ) -> ListUpdates<Item, Section> {
    ListUpdates(
      controller: self, options: UpdateOptions(policy: policy, start: .point(point), pace: pace))
  }

  /// Every change of the list, without the updates of rows in which only other fields changed. Insertions, deletions
  /// and moves are always reported.
  ///
  /// - Parameters:
  ///   - pace: as in `updates(_:every:since:)`.
  ///   - fields: the names of top-level fields, as they are in documents.
  public func updates(
    _ policy: UpdatePolicy = .latest, every pace: Duration? = nil, since token: ListToken? = nil,
    fields: [String]
  ) -> ListUpdates<Item, Section> {
    let observed = ObservedFields<Item>.names(Set(fields.map { Array($0.utf8) }))
    return ListUpdates(
      controller: self,
      options: UpdateOptions(
        policy: policy, start: UpdateStart(token), observed: observed, pace: pace))
  }

  /// Every change of the list, without the updates of rows in which only other properties changed. Insertions,
  /// deletions and moves are always reported. Both rows of every update are decoded.
  ///
  /// - Parameter pace: as in `updates(_:every:since:)`.
  public func updates<each Value: Equatable>(
    _ policy: UpdatePolicy = .latest, every pace: Duration? = nil, since token: ListToken? = nil,
    observing properties: repeat any KeyPath<Item, each Value> & Sendable
  ) -> ListUpdates<Item, Section> {
    var areEqual: [@Sendable (Item, Item) -> Bool] = []
    for property in repeat each properties {
      areEqual.append { $0[keyPath: property] == $1[keyPath: property] }
    }
    return ListUpdates(
      controller: self,
      options: UpdateOptions(
        policy: policy, start: UpdateStart(token), observed: .properties(areEqual), pace: pace))
  }
}
