// Keeps what one member says of itself in a carrier.

internal import StrataBase
package import StrataLog

/// Writes the note of one member: at first, when it has erased something, and now and then while it moves. Used by one
/// thread at a time.
package struct NoteKeeper {
  private let log: Log
  private let carrier: any Carrier
  private let part: MemberNote.Part
  private let member: StoreID
  private var kept: MemberNote?
  /// When the next note may be written that nobody waits for.
  private var next = MonotonicTime.now()
  /// Why the last note was not taken; nil if it was. It is tried again.
  package private(set) var trouble: CarrierError?

  package init(_ log: Log, in carrier: any Carrier, as part: MemberNote.Part, _ member: StoreID) {
    self.log = log
    self.carrier = carrier
    self.part = part
    self.member = member
  }

  /// How long a member waits from one note to the next if it only moves, and after one that was not taken.
  private static let interval = Duration.seconds(60)
  private static let pause = Duration.seconds(10)

  /// Writes the note if it is due. O(1) otherwise.
  ///
  /// - Parameters:
  ///   - end: the last event that the member says it has; nil for everything that it has on disk.
  ///   - erasedThrough: the last order to erase that was carried out in the log; nil for everything up to the end.
  ///   - isLast: whether this member ends now, so that the note is due if anything has changed.
  package mutating func keep(through end: LogMark? = nil, erasedThrough: UInt64? = nil, isLast: Bool = false)
  {
    let durable = end ?? log.mark.durable
    let erased = min(erasedThrough ?? durable.sequence, durable.sequence)
    let now = MonotonicTime.now()
    if let kept {
      let hasMoved = kept.sequence != durable.sequence || kept.chain != durable.chain
      guard kept.erasedThrough != erased || hasMoved else { return }
      let isDue = now >= next || (trouble == nil && isUrgent(since: kept, erased))
      guard isLast || isDue else { return }
    } else {
      guard isLast || now >= next else { return }
    }
    let note = MemberNote(
      part, of: log.storeID, member: member, sequence: durable.sequence, chain: durable.chain,
      erasedThrough: erased, time: StoreClock.system.now())
    do throws(CarrierError) {
      try carrier.setNote(CarrierNote(member: member.description, bytes: note.encoded()))
    } catch {
      next = now.advanced(by: Self.pause)
      trouble = error
      return
    }
    trouble = nil
    kept = note
    next = now.advanced(by: Self.interval)
  }

  /// Whether an order was carried out since a note, which somebody may wait for.
  private func isUrgent(since note: MemberNote, _ erased: UInt64) -> Bool {
    guard part == .follower else { return erased > note.erasedThrough }
    return log.replica.map { $0.erasedThrough > note.erasedThrough } ?? false
  }
}
