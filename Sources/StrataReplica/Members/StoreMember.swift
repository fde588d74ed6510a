// The members of a store, as their notes in a carrier say.

internal import StrataBase
public import StrataEvents
package import StrataLog

/// A machine with a copy of a store, as it last said of itself where the copies are.
public struct StoreMember: Sendable, Equatable {
  /// The name that `forget` takes.
  public var id: String
  /// What the note says; nil if it cannot be read, as that of a later version.
  public var state: State?

  /// How far a member is.
  public struct State: Sendable, Equatable {
    /// Whether it is the one that writes.
    public var isWriter: Bool
    /// Whether it wrote, and was overtaken. It says nothing more until it has rejoined, and then as another member.
    public var wasOvertaken: Bool
    /// The end of what it has on disk.
    public var position: LogPosition
    /// Every order to erase up to this sequence was carried out in its store.
    public var erasedThrough: UInt64
    /// When it said so, by its own clock.
    public var time: Timestamp

    /// - Parameter writer: the member that put the last object; nil if that is not known.
    init(_ note: MemberNote, writer: StoreID?) {
      wasOvertaken = note.part == .writer && writer.map { $0 != note.member } ?? false
      isWriter = note.part == .writer && !wasOvertaken
      position = LogPosition(sequence: note.sequence, chain: note.chain)
      erasedThrough = note.erasedThrough
      time = Timestamp(nanoseconds: note.time)
    }
  }

  init(_ note: CarrierNote, of storeID: StoreID?, writer: StoreID? = nil) {
    id = note.member
    state = note.bytes.withUnsafeBytes { MemberNote(decoding: $0) }
      .flatMap { found in
        let isOwn = found.member.description == note.member && found.storeID == storeID ?? found.storeID
        return isOwn ? State(found, writer: writer) : nil
      }
  }

  /// Whether the member may hold content that an order up to a sequence erases.
  package func mayHold(erasedThrough sequence: UInt64) -> Bool {
    state.map { $0.erasedThrough < sequence } ?? true
  }

  /// Whether the member has the events that a log has, up to where it says it is: what has other events has other content.
  /// Nil if it says nothing, or is further than the log.
  package func isLike(_ log: Log) throws(StoreError) -> Bool? {
    guard let position = state?.position, position.sequence <= log.mark.sequence else { return nil }
    return try log.chain(after: position.sequence) == position.chain
  }
}

extension EventStore {
  /// The machines that have said in a carrier that they have a copy, in the order of their ids.
  ///
  /// A member says so when it begins to ship or to follow, once it has carried out an order to erase, and at most once a
  /// minute while it takes events. One that is not allowed to write into the carrier cannot say anything.
  ///
  /// - Throws: `carrierUnavailable` if the carrier does not answer.
  public static func members(of carrier: any Carrier) async throws -> [StoreMember] {
    let thread = StoreOptions().machine.thread("strata-members")
    let result = await thread.result { () throws(StoreError) in try members(in: carrier) }
    return try result.get()
  }

  /// The members. Blocks.
  package static func members(in carrier: any Carrier) throws(StoreError) -> [StoreMember] {
    try CarrierLog(carrier, of: try CarrierLog(carrier, of: nil).foundStoreID()).members()
  }

  /// Removes what a member said of itself: its machine is gone for ever, with everything that was on it.
  ///
  /// An erasure waits for each member and names it until then. A member that is there after all says so again.
  ///
  /// - Throws: `notFound` if there is no such member; `carrierUnavailable` if the carrier does not answer.
  public static func forget(_ member: String, of carrier: any Carrier) async throws {
    let thread = StoreOptions().machine.thread("strata-forget")
    let result = await thread.result { () throws(StoreError) in try forget(member, in: carrier) }
    try result.get()
  }

  /// Forgets a member. Blocks.
  package static func forget(_ member: String, in carrier: any Carrier) throws(StoreError) {
    let objects = CarrierLog(carrier, of: nil)
    guard try objects.members().contains(where: { $0.id == member }) else {
      throw .replica(
        .notFound, place: carrier.name, what: "there is no member \(member)",
        next: "name one that --status lists, or EventStore.members(of:)")
    }
    try objects.asStoreError { () throws(CarrierError) in try carrier.removeNote(of: member) }
  }
}

extension CarrierLog {
  func members() throws(StoreError) -> [StoreMember] {
    let notes = try asStoreError { () throws(CarrierError) in try carrier.notes() }
    // After the notes: who wrote then may have been overtaken since. A damaged object is for others to say.
    let last = try? lastObject()
    return notes.map { StoreMember($0, of: storeID, writer: last?.header.writer) }
      .sorted { $0.id < $1.id }
  }
}
