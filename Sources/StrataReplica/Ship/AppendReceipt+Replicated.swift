// Waiting until an append is in a carrier.

internal import StrataBase
public import StrataEvents
internal import StrataLog

extension AppendReceipt {
  /// Suspends until the append is in the carrier that its store ships to, as durably as that can make it.
  ///
  /// - Throws: `carrierUnavailable` if that is not known within the duration: the append is in the store, and may come to
  ///   the carrier later. `fenced` if another member has taken over: it will not. `invalid` if the store does not ship.
  ///   `CancellationError`.
  public func replicated(within duration: Duration) async throws {
    guard let (shipping, isContested) = ShippingStores.shipping(of: storeID) else {
      throw StoreError.invalid(what: "the store \(storeID) does not ship", next: "begin to: store.ship(to:)")
    }
    if isContested, try await !shipping.has(position) {
      throw StoreError.replica(
        .fenced, place: shipping.carrier.name,
        what: "another copy of the store in this program has taken over",
        next: "ask the one that writes; this append is in the store that it was made in only")
    }
    try await shipping.replicated(through: sequences.upperBound, within: duration)
  }
}

/// The shippings of the open stores of this process. A receipt says only which store it is of: it is a value, and made for
/// each append.
enum ShippingStores {
  private struct Weak {
    weak let shipping: Shipping?
    /// Whether two copies of the store have shipped in this process, so that a receipt may be of either.
    let isContested: Bool
  }

  private static let stores = Lock<[StoreID: Weak]>([:])

  static func add(_ shipping: Shipping, of store: StoreID) {
    stores.withLock { stores in
      stores = stores.filter { $0.value.shipping != nil }
      stores[store] = Weak(shipping: shipping, isContested: stores[store] != nil)
    }
  }

  static func shipping(of store: StoreID) -> (Shipping, isContested: Bool)? {
    stores.withLock { stores in
      guard let found = stores[store], let shipping = found.shipping else { return nil }
      return (shipping, found.isContested)
    }
  }
}
