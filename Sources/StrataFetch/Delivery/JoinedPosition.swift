// The position of an iteration over several lists: all of them at one sequence.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// One of several lists, without its generic types.
protocol JoinedMember: Sendable {
  var store: EventStore { get }
  var announcement: Announcement { get }
  var isCancelled: Bool { get }
  /// Whether the request has been replaced since the last look.
  var isReconfigured: Bool { get }
  /// Compiles the request that is in force now.
  func prepare() throws
  /// The projector of the list's rows.
  var projector: Projector { get }
  /// A state of the projector that includes everything up to a sequence, with the list's view.
  func state(reaching sequence: UInt64) async throws -> TableSet
  /// Whether a view of a table is the list's.
  func shows(_ view: ViewDefinition, of table: String) -> Bool
  /// A state of the projector folded up to a later sequence.
  func state(_ set: TableSet, through sequence: UInt64) async throws -> TableSet
  /// The state with the list's view, which is added if it is missing.
  func completed(_ set: TableSet) async throws -> TableSet
  /// Looks at the list in a state. Returns true if there is something to deliver.
  func look(at set: TableSet) -> Bool
  /// Makes the update from the list that was delivered last to the one that was seen last.
  func deliver()
}

/// One controller's list among several. Used by one task at a time, as iterators are.
final class ListMember<Item: Identifiable & Sendable, Section: Hashable & Sendable>: JoinedMember
where Item.ID: DocumentID {
  private struct State {
    var prepared: FetchController<Item, Section>.Prepared?
    var position: UpdatePosition<Item, Section>?
    /// Whether the first update has not been delivered yet.
    var isFirst = true
    var update: ListUpdate<Item, Section>?
  }

  private let controller: FetchController<Item, Section>
  private let state = Lock(State())

  init(_ controller: FetchController<Item, Section>) { self.controller = controller }

  var store: EventStore { controller.rows.store }
  var announcement: Announcement { controller.announcement }
  var isCancelled: Bool { controller.isCancelled }
  var isReconfigured: Bool {
    state.withLock { $0.prepared?.epoch } != controller.state.withLock { $0.epoch }
  }

  var lastUpdate: ListUpdate<Item, Section> {
    guard let update = state.withLock({ $0.update }) else {
      preconditionFailure("lastUpdate was read before the first update")
    }
    return update
  }

  private var prepared: FetchController<Item, Section>.Prepared {
    guard let prepared = state.withLock({ $0.prepared }) else {
      preconditionFailure("prepare() was not called before the first look")
    }
    return prepared
  }

  func prepare() throws {
    let prepared = try controller.prepared()
    let old = state.withLock { state in
      defer { state.prepared = prepared }
      return state.prepared
    }
    withExtendedLifetime(old) {}
  }

  var projector: Projector { prepared.rows.projector }

  func state(reaching sequence: UInt64) async throws -> TableSet {
    let prepared = prepared
    return try await ListError.wrapping {
      try await prepared.rows.projector.state(reaching: sequence, with: prepared.lease)
    }
  }

  func shows(_ view: ViewDefinition, of table: String) -> Bool {
    let prepared = prepared
    return view.identity == prepared.list.definition.identity
      && table.utf8.elementsEqual(prepared.rows.name.utf8)
  }

  func state(_ set: TableSet, through sequence: UInt64) async throws -> TableSet {
    let prepared = prepared
    return try await ListError.wrapping {
      try await AppendFollower.state(set, of: prepared.rows, through: sequence)
    }
  }

  func completed(_ set: TableSet) async throws -> TableSet {
    let prepared = prepared
    let definition = prepared.list.definition
    guard set[prepared.rows.name].view(definition.identity) == nil else { return set }
    return try await ListError.wrapping {
      try await AppendFollower.state(set, of: prepared.rows, adding: definition)
    }
  }

  func look(at set: TableSet) -> Bool {
    let prepared = prepared
    let seen = UpdatePosition<Item, Section>.Seen(set, prepared)
    let fetched = FetchedList(
      snapshot: seen.snapshot, list: prepared.list, lease: prepared.lease, appendCount: seen.appendCount)
    _ = controller.change { $0.publish(fetched, of: prepared.epoch) }
    guard var position = state.withLock({ $0.position }) else {
      state.withLock { $0.position = UpdatePosition(seen, observing: nil) }
      return true
    }
    var done = ListStatistics()
    let isNews = position.look(at: seen, &done)
    controller.counts.withLock { $0.add(done) }
    state.withLock { $0.position = position }
    return isNews
  }

  func deliver() {
    guard var position = state.withLock({ $0.position }) else { return }
    var done = ListStatistics()
    let update: ListUpdate<Item, Section>
    if state.withLock({ $0.isFirst }) {
      update = ListUpdate(
        reason: .initial, before: nil, after: position.shown.snapshot,
        changes: ListChanges<Item.ID, Section>())
      done.add(update.changes, appends: 1)
    } else {
      update = position.deliver(&done)
    }
    controller.counts.withLock { $0.add(done) }
    state.withLock { state in
      state.position = position
      state.isFirst = false
      state.update = update
    }
  }
}

/// The position of one iteration over several lists.
struct JoinedPosition: NewsSource {
  /// The announcements, the end and the head before a look at the lists.
  struct Mark: Sendable {
    /// The announcement number of each list.
    var announced: [AnnouncementNumber]
    /// Read before the head, so that everything appended before the end is delivered before the end is.
    var end: StoreError?
    var head: UInt64
  }

  private let members: [any JoinedMember]
  /// The sequence of the last look.
  private var looked: UInt64?

  init(_ members: [any JoinedMember]) { self.members = members }

  var isCancelled: Bool { members.contains { $0.isCancelled } }

  /// A point as the sequence that it is for all lists. The head may move from one list to the next.
  func sequence(of point: LogPoint) async throws -> LogPoint {
    if isCancelled { throw CancellationError() }
    guard let store = members.first?.store else { return point }
    if let error = differentStores { throw error }
    return try await ListError.wrapping {
      .sequence(
        try await store.lookingUp { builds throws(StoreError) in
          try store.sequenceBlocking(of: point, builds: builds)
        })
    }
  }

  /// The error of lists that belong to different stores.
  private var differentStores: ListError? {
    guard let store = members.first?.store, let other = members.first(where: { $0.store.log !== store.log })
    else {
      return nil
    }
    return .otherStore(other.store.id, expected: store.id)
  }

  func mark() -> Mark {
    let announced = members.map { $0.announcement.number }
    let store = members.first?.store
    let end = store?.log.tail.end
    return Mark(announced: announced, end: end, head: store?.head.sequence ?? 0)
  }

  /// The sequence of all lists after the update that `deliver` has made for each.
  mutating func look(from mark: inout Mark) async -> News<UInt64>? {
    if members.isEmpty { return .end }
    if let error = differentStores { return .failure(error) }
    if isCancelled { return .end }
    while looked.map({ mark.head > $0 }) ?? true || members.contains(where: { $0.isReconfigured }) {
      do {
        if let sequence = try await look(reaching: max(mark.head, looked ?? 0)) { return .update(sequence) }
      } catch {
        guard let error = ListError(error), !error.isEnd else { return .end }
        return .failure(error)
      }
      // Nothing changed, but a request may have been replaced in the meantime, or more appended.
      if isCancelled || Task.isCancelled { return .end }
      mark = self.mark()
    }
    guard let end = mark.end else { return nil }
    return end == .closed ? .end : .failure(.store(end))
  }

  func wait(beyond mark: Mark) async throws(ListError) {
    guard let store = members.first?.store else { return }
    let news = zip(members, mark.announced).map { (announcement: $0.announcement, beyond: $1) }
    do throws(StoreError) { try await store.wait(beyond: mark.head, or: news) } catch {
      // Closed: the next look delivers everything that was appended before, and then ends.
      if error != .closed { throw .store(error) }
    }
  }

  /// Looks at all lists at one sequence. Nil if nothing changed in any of them.
  private mutating func look(reaching sequence: UInt64) async throws -> UInt64? {
    for member in members { try member.prepare() }
    // One state per projector: the one that is fetched last has the views of the earlier members.
    var sets: [ObjectIdentifier: TableSet] = [:]
    for member in members {
      sets[ObjectIdentifier(member.projector)] = try await member.state(reaching: sequence)
    }
    let target = sets.values.reduce(sequence) { max($0, $1.sequence) }
    var isNews = false
    for member in members {
      let projector = ObjectIdentifier(member.projector)
      guard var set = sets[projector] else { continue }
      set = try await member.completed(set)
      // Another projector is further ahead. This state is folded separately, so that no projector has to stop.
      if set.sequence < target {
        set = try await member.state(withMembersOnly(set, of: member.projector), through: target)
      }
      sets[projector] = set
      if member.look(at: set) { isNews = true }
    }
    looked = target
    guard isNews else { return nil }
    for member in members { member.deliver() }
    return target
  }

  /// A state without the views of other lists, whose code may take any amount of time.
  private func withMembersOnly(_ set: TableSet, of projector: Projector) -> TableSet {
    let members = members.filter { $0.projector === projector }
    var result = set
    for table in set.tables {
      for view in table.views where !members.contains(where: { $0.shows(view.definition, of: table.name) }) {
        result.withTable(table.name) { $0.removeView(view.definition.identity) }
      }
    }
    return result
  }
}
