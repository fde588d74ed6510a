// Begins to ship an open store.

internal import StrataBase
public import StrataEvents
public import StrataLog

/// What a store keeps of its shipping; ends it with the store.
final class ShippingHolder: StoreAttachment, Sendable {
  private let state = Lock<Shipping?>(nil)

  var shipping: Shipping? { state.withLock { $0 } }

  /// Begins a shipping in place of an earlier one, which is stopped.
  func begin(_ shipping: Shipping) {
    let earlier = state.withLock { state in
      defer { state = shipping }
      return state
    }
    earlier?.stop()
  }

  func storeWillClose() -> @Sendable () -> Void {
    let shipping = shipping
    shipping?.stop()
    return { shipping?.finish() }
  }

  deinit { shipping?.stop() }
}

extension EventStore {
  /// The shipping of this store; nil if it was not begun since the store was opened.
  public var shipping: Shipping? { attachment { ShippingHolder() }.shipping }

  /// Puts everything that this store has on disk, and will have, into a carrier, in the background.
  ///
  /// The first call makes this store the writer of its copies: the file `REPLICA` says so, and each later open ships by
  /// calling this again. It goes on where the carrier ends, after any pause. An append does not wait for it; see
  /// `AppendReceipt.replicated(within:)`.
  ///
  /// ```swift
  /// let store = try await EventStore.open(at: "desk.strata")
  /// try await store.ship(to: FolderCarrier(path: "/backup/desk"))
  /// let receipt = try await store.append([NewEvent("opened", in: "ticket/1", ["title": "No mail"])])
  /// try await receipt.replicated(within: .seconds(5))
  /// ```
  ///
  /// - Parameter startingOver: ships also to a place that is empty though this store has shipped to it. What was called
  ///   replicated is not there any more, and a copy that has more than this store has to follow into a new folder.
  /// - Throws: `carrierUnfit` if the carrier cannot keep what is promised, or has lost what this store put there;
  ///   `carrierUnavailable` if it does not answer now; `following` and `fenced` if another member writes; `invalid` if the
  ///   carrier has objects that another store put there, or that this one put there before it was moved or restored.
  @discardableResult
  public func ship(
    to carrier: any Carrier, startingOver: Bool = false
  ) async throws(StoreError) -> Shipping {
    let thread = machine.thread("strata-ship")
    let result = await thread.result { [self] () throws(StoreError) in
      try shipBlocking(to: carrier, startingOver: startingOver)
    }
    return try result.get()
  }

  /// Begins to ship as `ship(to:)` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  public func shipBlocking(
    to carrier: any Carrier, startingOver: Bool = false
  ) throws(StoreError) -> Shipping {
    try log.checkWrites()
    try log.checkAppends()
    let objects = CarrierLog(carrier, of: log.storeID)
    // Before anything is tried there: what has lost everything may be another disk, which is left as it is.
    if !startingOver { try refuseEmptied(objects) }
    try objects.asStoreError { () throws(CarrierError) in try carrier.prove() }
    let mark = try writerMark(objects, startingOver)
    if log.replica != mark { try log.setReplica(mark) }
    let shipper = Shipper(log, to: carrier, as: mark.member)
    let shipping = Shipping(log, to: carrier, as: mark.member)
    // What is wrong with the carrier's end is the caller's to know, and not only to be read in the status.
    let step = try shipper.step()
    if case .trouble(let error) = step { throw .carrier(error, carrier.name) }
    EventStore.announce(mark, as: .writer, at: shipper.end, in: carrier)
    shipping.publish(shipper, step)
    attachment { ShippingHolder() }.begin(shipping)
    try shipping.start(shipper, on: machine)
    ShippingStores.add(shipping, of: log.storeID)
    return shipping
  }

  /// Throws if nothing is where this store has shipped to.
  private func refuseEmptied(_ objects: CarrierLog) throws(StoreError) {
    let place = objects.carrier.name
    guard let mark = log.replica, mark.role == .writer, mark.hasShipped, mark.carrier == place else { return }
    guard try objects.lastNumber() > 0 else { throw .emptied(place) }
  }

  /// The mark of this store as the writer: its own, or a new one if nobody has put anything into the carrier.
  private func writerMark(_ objects: CarrierLog, _ startingOver: Bool) throws(StoreError) -> ReplicaMark {
    let everything = CarrierLog(objects.carrier, of: nil)
    if var mark = log.replica, mark.role == .writer {
      // What is wrong with the first object is for those to say who need it.
      if let found = try? everything.foundStoreID(), found != log.storeID {
        throw .foreign(found, in: objects.carrier.name)
      }
      if startingOver || mark.carrier != objects.carrier.name { mark.hasShipped = false }
      mark.carrier = objects.carrier.name
      return mark
    }
    if let found = try everything.foundStoreID() {
      guard found == log.storeID else { throw .foreign(found, in: objects.carrier.name) }
      throw .invalid(
        what: "\(objects.carrier.name) has a copy already, and this store is not the one that writes it",
        next: "ship to an empty place; to go on with the copy, follow it in a new folder, and take over there"
      )
    }
    var mark = ReplicaMark(.writer, of: log.storeID, member: .random(), carrier: objects.carrier.name)
    if let fork = log.replica {
      (mark.origin, mark.originSequence, mark.originChain) = (
        fork.origin, fork.originSequence, fork.originChain
      )
    }
    return mark
  }
}

extension StoreError {
  /// A place has the objects of another store.
  package static func foreign(_ found: StoreID, in place: String) -> StoreError {
    .invalid(
      what: "\(place) has a copy of another store, \(found)",
      next: "name the place of this store, or an empty one")
  }

  /// A place that had objects of this store has none.
  fileprivate static func emptied(_ place: String) -> StoreError {
    .replica(
      .carrierUnfit, place: place, what: "nothing is there, and this store has shipped to it",
      next: "see whether it is the right place, and its disk is mounted; if its content is lost, ship to a "
        + "new place, or to this one with startingOver (logreplay: --start-over)")
  }
}
