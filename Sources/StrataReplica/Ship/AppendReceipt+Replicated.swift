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
    guard let shipping = ShippingStores.shipping(of: storeID) else {
      throw StoreError.invalid(what: "the store \(storeID) does not ship", next: "begin to: store.ship(to:)")
    }
    try await shipping.replicated(through: sequences.upperBound, within: duration)
  }
}

/// The shippings of the open stores of this process. A receipt says only which store it is of: it is a value, and made for
/// each append.
enum ShippingStores {
  private struct Weak {
    weak let shipping: Shipping?
  }

  private static let stores = Lock<[StoreID: Weak]>([:])

  static func add(_ shipping: Shipping, of store: StoreID) {
    stores.withLock { stores in
      stores = stores.filter { $0.value.shipping != nil }
      stores[store] = Weak(shipping: shipping)
    }
  }

  static func shipping(of store: StoreID) -> Shipping? { stores.withLock { $0[store]?.shipping } }
}
