// Several lists of one store, always at one sequence.

public import StrataLists

/// A list that can be followed together with others: a `FetchController`.
public protocol JoinableList: Sendable {
  /// What a consumer is given of it.
  associatedtype Update: Sendable
  /// A position of its own in the list.
  func joinedList() -> JoinedList<Update>
}

extension FetchController: JoinableList {
  public typealias Update = ListUpdate<Item, Section>

  public func joinedList() -> JoinedList<ListUpdate<Item, Section>> {
    let member = ListMember(self)
    return JoinedList(member: member) { member.lastUpdate }
  }
}

/// One list of several: what a `JoinedUpdates` iteration knows of it.
public struct JoinedList<Update: Sendable>: Sendable {
  let member: any JoinedMember
  let lastUpdate: @Sendable () -> Update
}

/// The updates of several lists of one store, which are always at one sequence.
///
/// ```swift
/// for try await step in JoinedUpdates(open, closed) {
///   let (open, closed) = step.updates
///   show(open.after, closed.after)
/// }
/// ```
///
/// Each element holds one update of every list, all of them with the same `sequence`: no append is in one of the
/// lists and not in another, whatever projections they are made of. A list in which nothing changed has an update
/// without changes. The first element holds the lists whole; each one after it begins where the one before it
/// ended, and where nothing changed in any list there is none. Who is slow gets larger differences.
///
/// An iteration ends with nil when its task or one of the lists is cancelled or the store is closed, and throws
/// where the log cannot go on, or where the lists are of different stores.
public struct JoinedUpdates<each List: JoinableList>: AsyncSequence, Sendable {
  /// One update of every list.
  public struct Element: Sendable {
    /// Everything up to this sequence is in all lists.
    public var sequence: UInt64
    /// In the order of the lists.
    public var updates: (repeat (each List).Update)
  }

  public typealias Failure = ListError

  private let lists: (repeat each List)

  public init(_ lists: repeat each List) { self.lists = (repeat each lists) }

  public func makeAsyncIterator() -> Iterator {
    Iterator(lists: (repeat (each lists).joinedList()))
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let lists: (repeat JoinedList<(each List).Update>)
    private var position: JoinedPosition
    /// It ended with nil or an error, and stays ended.
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
        // Here the caller's actor has the turn again: whoever cancelled on it meanwhile gets nothing more.
        if position.isCancelled || Task.isCancelled { return nil }
        isOver = false
        return Element(sequence: sequence, updates: (repeat (each lists).lastUpdate()))
      }
    }
  }
}
