// How an iteration wants its updates.

internal import StrataEvents
public import StrataLists
internal import StrataTables

/// Which states of a list a consumer is given.
public enum UpdatePolicy: Hashable, Sendable {
  /// The newest. Who is slow gets one difference over everything in between, and nothing waits for it.
  case latest
  /// The one at the end of every append that changed the list, however slow the consumer is. Nothing is queued:
  /// the consumer's own fold goes on from where it stands, so memory is bounded by the list and not by the log.
  case everyCommit
}

/// What an iteration was asked for.
struct UpdateOptions<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  var policy = UpdatePolicy.latest
  var token: ListToken?
  var observed: ObservedFields<Item>?
}

/// The fields of rows whose updates are wanted.
enum ObservedFields<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  /// By the UTF-8 of their names.
  case names(Set<[UInt8]>)
  /// By properties: whether each is equal in two items.
  case properties([@Sendable (Item, Item) -> Bool])

  /// Takes out the updates of rows of which nothing that is observed changed, and returns how many those were.
  /// What came, went or moved stays, and so does a row of which it is not known what changed.
  func filter<Section>(
    _ changes: inout ListChanges<Item.ID, Section>, from old: FetchSnapshot<Item, Section>,
    to new: FetchSnapshot<Item, Section>
  ) -> Int {
    let count = changes.updates.count
    changes.updates.removeAll { update in
      switch self {
      case .names(let names):
        if update.changedFields.isEmpty { return false }
        return !update.changedFields.contains { names.contains(Array($0.utf8)) }
      case .properties(let areEqual):
        guard let a = old.row(for: update.id).item, let b = new.row(for: update.id).item else { return false }
        return areEqual.allSatisfy { $0(a, b) }
      }
    }
    return count - changes.updates.count
  }
}

extension FetchController {
  /// Every change of the list from now on, beginning with the list as it is.
  public var updates: ListUpdates<Item, Section> { ListUpdates(controller: self, options: UpdateOptions()) }

  /// Every change of the list from now on, or from a token on.
  ///
  /// With a token the first update is the difference since then, with the reason `.resumed`: the list at the token
  /// is made anew by a replay, unless nothing was appended since. Under `.everyCommit` it is the list at the
  /// token without a change, and each append behind it is an update of its own. A token that the log does not
  /// reach, since its torn tail was cut off, begins anew with `.restarted`.
  ///
  /// Iterations throw `tokenExpired` where the log was trimmed behind the token, `otherStore` for the token of
  /// another store, and `.store(.diverged)` where the log up to the token is not the one that was seen.
  public func updates(
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil
  ) -> ListUpdates<Item, Section> {
    ListUpdates(controller: self, options: UpdateOptions(policy: policy, token: token))
  }

  /// The same without the updates of rows of which only other fields changed. Items that come, go or move are
  /// always reported.
  ///
  /// - Parameter fields: the names of top-level fields, as they stand in documents.
  public func updates(
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil, fields: [String]
  ) -> ListUpdates<Item, Section> {
    let observed = ObservedFields<Item>.names(Set(fields.map { Array($0.utf8) }))
    return ListUpdates(
      controller: self, options: UpdateOptions(policy: policy, token: token, observed: observed))
  }

  /// The same without the updates of rows of which only other properties changed. Items that come, go or move are
  /// always reported. Both rows of every update are decoded.
  public func updates<each Value: Equatable>(
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil,
    observing properties: repeat any KeyPath<Item, each Value> & Sendable
  ) -> ListUpdates<Item, Section> {
    var areEqual: [@Sendable (Item, Item) -> Bool] = []
    for property in repeat each properties {
      areEqual.append { $0[keyPath: property] == $1[keyPath: property] }
    }
    return ListUpdates(
      controller: self,
      options: UpdateOptions(policy: policy, token: token, observed: .properties(areEqual)))
  }
}
