// Whether what a store has erased is gone from every copy, as the store and the notes of its members say.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

/// How far an erasure is.
struct ErasureState {
  /// Whether an order is not carried out in the store itself.
  var isOpenHere = false
  /// Whether the place of the copies may hold what is erased.
  var isOpenThere = false
  /// The members that have not said that they have erased it, by their ids.
  var waitsFor: [String] = []

  var isDone: Bool { !isOpenHere && !isOpenThere && waitsFor.isEmpty }

  /// What is known without a look at the members.
  init(isOpenHere: Bool, isOpenThere: Bool, waitsFor: [String]) {
    self.isOpenHere = isOpenHere
    self.isOpenThere = isOpenThere
    self.waitsFor = waitsFor
  }

  /// Compares what members say with the last order of a store.
  init(of store: EventStore, _ mark: ReplicaMark, _ carrier: any Carrier, _ members: [StoreMember])
    throws(StoreError)
  {
    let orders = try store.eventsBlocking(in: ErasureEvent.stream, limit: .max)
      .filter { $0.type == ErasureEvent.order }
    guard let last = orders.last?.sequence else { return }
    let isWriter = mark.role == .writer
    isOpenHere = isWriter ? try store.hasOpenErasures() : mark.erasedThrough < last
    for member in members {
      let mayHold = member.mayHold(erasedThrough: last)
      let hasOtherEvents = try member.isLike(store.log) == false
      if isWriter, member.id == mark.member.description {
        isOpenThere = mayHold
      } else if mayHold || hasOtherEvents {
        waitsFor.append(member.id)
      }
    }
    guard isWriter, let manifest = try CarrierLog(carrier, of: mark.storeID).manifest() else { return }
    isOpenThere = isOpenThere || manifest.erasedThrough < last
  }

  func add(to line: inout JSONLine) {
    line.field("erased", isDone)
    line.array(
      "erasureWaitsFor",
      waitsFor.map { id in
        var bytes: [UInt8] = []
        JSONWriter.append(id, to: &bytes)
        return bytes
      })
    if isOpenHere { line.field("storeHoldsErased", true) }
    if isOpenThere { line.field("placeHoldsErased", true) }
  }

  /// What is open as a sentence, and what to do about it; nil if nothing is.
  ///
  /// - Parameters:
  ///   - store: the path of the store.
  ///   - place: the URL of its copies.
  func problem(store: String, place: String) -> (what: String, next: String)? {
    let ship = "ship: logreplay replicate \(ShellWord.of(store))"
    if !waitsFor.isEmpty {
      let (noun, verb) = waitsFor.count == 1 ? ("member", "has") : ("members", "have")
      let member = waitsFor.count == 1 ? ShellWord.of(waitsFor[0]) : "MEMBER"
      return (
        "copies may hold what was erased: the \(noun) \(waitsFor.joined(separator: ", ")) \(verb) not said otherwise",
        (isOpenThere ? "\(ship); then " : "")
          + "follow on those machines: logreplay replicate \(ShellWord.of(place)) FOLDER; or forget one that is gone "
          + "for ever: logreplay replicate \(ShellWord.of(store)) --forget \(member)"
      )
    }
    if isOpenHere {
      return (
        "an order to erase is not carried out in the store itself",
        "see what is damaged: logreplay verify \(ShellWord.of(store)); any command that writes there tries again"
      )
    }
    guard isOpenThere else { return nil }
    return ("the place of the copies may hold what was erased", ship)
  }
}
