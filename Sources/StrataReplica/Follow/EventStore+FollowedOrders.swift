// Erasing on a follower: each order is carried out where it is followed, before what comes after it.

internal import StrataBase
package import StrataEvents
package import StrataLog

extension EventStore {
  /// What takes the objects of a carrier into this store.
  package func follower(from carrier: any Carrier, of storeID: StoreID? = nil, through last: UInt64 = .max)
    -> Follower
  {
    Follower(
      log, from: carrier, of: storeID, through: last, isOrder: { ErasureEvent.isOrder($0) }
    ) { [log] () throws(StoreError) in
      // The store itself may be released while the last object is taken.
      try EventStore(log: log).carryOutFollowedOrders()
    }
  }

  /// Carries out the orders that were followed and were not carried out here yet. The notes that they are done come from
  /// the writer.
  func carryOutFollowedOrders() throws(StoreError) {
    guard var mark = log.replica, mark.role == .follower, mark.erasedThrough < log.mark.sequence else {
      return
    }
    let through = log.mark.sequence
    guard try carryOutOrders(after: mark.erasedThrough) > 0 else { return }
    mark.erasedThrough = through
    try log.setReplica(mark)
  }
}
