// Several lists of one store, always at the same sequence.

public import StrataEvents
public import StrataLists

/// A list that can be followed together with others: a `FetchController`.
public protocol JoinableList: Sendable {
  /// The update of one list.
  associatedtype Update: Sendable
  /// One list at one moment.
  associatedtype Snapshot: Sendable
  /// What differs between two moments of one list.
  associatedtype Changes: Sendable
  /// Creates a position in the list for a joined iteration.
  func joinedList() -> JoinedList<Update>
  /// The list at a point of the log.
  func snapshot(at point: LogPoint) async throws -> Snapshot
  /// The changes of the list between two points of the log.
  func changes(from start: LogPoint, to end: LogPoint) async throws -> Changes
}

extension FetchController: JoinableList {
  public typealias Update = ListUpdate<Item, Section>
  public typealias Snapshot = ListSnapshot<Item, Section>
  public typealias Changes = ListChanges<Item.ID, Section>

  public func joinedList() -> JoinedList<ListUpdate<Item, Section>> {
    let member = ListMember(self)
    return JoinedList(member: member) { member.lastUpdate }
  }
}

/// One of several lists in a `JoinedUpdates` iteration.
public struct JoinedList<Update: Sendable>: Sendable {
  let member: any JoinedMember
  let lastUpdate: @Sendable () -> Update
}

/// The updates of several lists of one store, always at the same sequence.
///
/// ```swift
/// for try await step in JoinedUpdates(open, closed) {
///   let (open, closed) = step.updates
///   show(open.after, closed.after)
/// }
/// ```
///
/// Each element holds one update of every list, all with the same `sequence`: an append is in all of the lists or in
/// none, whatever projections they are made of. A list in which nothing changed has an update without changes. The
/// first element holds the whole lists; each later one begins where the previous one ended. If nothing changed in any
/// list, there is no element. A slow consumer receives larger differences.
///
/// An iteration ends with nil when its task or one of the lists is cancelled, or when the store is closed. It throws if
/// the log cannot be read any further, or if the lists belong to different stores.
public struct JoinedUpdates<each List: JoinableList>: AsyncSequence, Sendable {
  /// One update of every list.
  public struct Element: Sendable {
    /// The sequence up to which all lists include everything.
    public var sequence: UInt64
    /// One update per list, in the order of the lists.
    public var updates: (repeat (each List).Update)
  }

  public typealias Failure = ListError

  private let lists: (repeat each List)

  public init(_ lists: repeat each List) { self.lists = (repeat each lists) }

  public func makeAsyncIterator() -> Iterator {
    Iterator(lists: (repeat (each lists).joinedList()))
  }

  /// The lists at one point of the log, in their order, all with the same `sequence`.
  ///
  /// Each costs what `snapshot(at:)` of the list costs there. The newest lists are cheaper as the first element of an
  /// iteration.
  ///
  /// Throws what `snapshot(at:)` throws, and `otherStore` if the lists belong to different stores.
  public func snapshots(at point: LogPoint) async throws -> (repeat (each List).Snapshot) {
    let point = try await members().sequence(of: point)
    return (repeat try await (each lists).snapshot(at: point))
  }

  /// What changed in each list between two points of the log, in either direction: of all between the same two
  /// sequences. Each costs what `changes(from:to:)` of the list costs.
  ///
  /// Throws what `changes(from:to:)` throws, and `otherStore` if the lists belong to different stores.
  public func changes(
    from start: LogPoint, to end: LogPoint
  ) async throws -> (repeat (each List).Changes) {
    let members = members()
    let (start, end) = (try await members.sequence(of: start), try await members.sequence(of: end))
    return (repeat try await (each lists).changes(from: start, to: end))
  }

  private func members() -> JoinedPosition {
    var members: [any JoinedMember] = []
    for list in repeat (each lists).joinedList() { members.append(list.member) }
    return JoinedPosition(members)
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let lists: (repeat JoinedList<(each List).Update>)
    private var position: JoinedPosition
    /// The iteration has ended with nil or an error, and stays ended.
    private var isOver = false

    init(lists: (repeat JoinedList<(each List).Update>)) {
      self.lists = lists
      var members: [any JoinedMember] = []
      for list in repeat each lists { members.append(list.member) }
      position = JoinedPosition(members)
    }

    public mutating func next() async throws(ListError) -> Element? { try await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(ListError) -> Element? {
      if isOver { return nil }
      isOver = true
      switch await position.next() {
      case .end: return nil
      case .failure(let error): throw error
      case .update(let sequence):
        // The caller's actor is running again: if the task or a list was cancelled on it meanwhile, there is no further
        // element.
        if position.isCancelled || Task.isCancelled { return nil }
        isOver = false
        return Element(sequence: sequence, updates: (repeat (each lists).lastUpdate()))
      }
    }
  }
}
