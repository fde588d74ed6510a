// The states of the decoder's last calls, left to the next ones.

internal import Synchronization

/// States that no call uses, a few of them.
enum SpareDecodingState {
  /// A power of two.
  private static let placeCount = 8
  /// The distance of two places, so that threads that use different ones do not share a cache line.
  private static let stride = 8

  /// The addresses of states, which are retained; 0 for none.
  private static let places = AtomicAddresses(count: placeCount * stride)

  /// The place of this thread. The stacks of threads are far apart, and those that have a place in common only find it
  /// empty more often.
  @inline(__always)
  private static var place: UnsafeMutablePointer<Atomic<UInt>> {
    var local: UInt8 = 0
    let stack = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) } >> 18
    let hash = (stack &* 0x9E37_79B9_7F4A_7C15) >> 56
    return places[stride * Int(truncatingIfNeeded: hash & UInt64(placeCount - 1))]
  }

  static func take() -> DecodingState {
    let address = place.pointee.exchange(0, ordering: .acquiring)
    guard let state = UnsafeRawPointer(bitPattern: address) else { return DecodingState() }
    return Unmanaged<DecodingState>.fromOpaque(state).takeRetainedValue()
  }

  /// Ends a call, and leaves its state to the next one unless the decoded type has kept a decoder.
  static func give(_ state: inout DecodingState) {
    state.close()
    guard isKnownUniquelyReferenced(&state) else { return }
    let address = UInt(bitPattern: Unmanaged.passRetained(state).toOpaque())
    let old = place.pointee.exchange(address, ordering: .acquiringAndReleasing)
    if let old = UnsafeRawPointer(bitPattern: old) { Unmanaged<DecodingState>.fromOpaque(old).release() }
  }
}
