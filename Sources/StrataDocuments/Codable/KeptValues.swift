// Values of short payloads that one call of the decoder leaves to the next.

internal import StrataBase

/// The values that cases of enums were decoded to last, as far as their payloads are short and come again.
///
/// A log holds many events that differ only in their stream and time: a state that is set, an agent out of fifty, a case
/// without values. Decoding one takes a dozen calls of the standard library, whatever its length. A value is kept when
/// its payload comes for the second time, so that payloads which never come again cost a comparison.
final class KeptValues {
  /// The name of a case and its payload, padded with zeros, and the length of each. Equal keys are equal bytes.
  private typealias Key = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  /// The longest payload whose value is kept, and the longest name of a case.
  static let payloadLengthMax = 40
  static let nameLengthMax = 22
  /// A power of two.
  private static let placeCount = 256

  private struct Kept {
    let type: ObjectIdentifier
    let key: Key
    /// The address of a value of the type. It is not typed, since finding out its type takes long.
    let value: UnsafeMutableRawPointer
    let free: (UnsafeMutableRawPointer) -> Void
  }

  private let kept: UnsafeMutablePointer<Kept?>
  /// The hash of the last payload that was not found, for each place.
  private let missed: UnsafeMutablePointer<UInt64>
  /// The key and the hash of the last search.
  @exclusivity(unchecked) private var key: Key = (0, 0, 0, 0, 0, 0, 0, 0)
  @exclusivity(unchecked) private var hash: UInt64 = 0

  init() {
    assert(MemoryLayout<Key>.size == Self.payloadLengthMax + Self.nameLengthMax + 2)
    kept = .allocate(capacity: Self.placeCount)
    missed = .allocate(capacity: Self.placeCount)
    kept.initialize(repeating: nil, count: Self.placeCount)
    missed.initialize(repeating: 0, count: Self.placeCount)
  }

  deinit {
    for place in 0..<Self.placeCount { remove(at: place) }
    kept.deallocate()
    missed.deallocate()
  }

  private func remove(at place: Int) {
    guard let old = kept[place] else { return }
    old.free(old.value)
    kept[place] = nil
  }

  /// Whether the value of a payload may be kept.
  @inline(__always)
  static func mayKeep(_ name: UnsafeBufferPointer<UInt8>, _ payload: UnsafeRawBufferPointer) -> Bool {
    payload.count <= payloadLengthMax && name.count <= nameLengthMax
  }

  /// The address of the value that a payload was decoded to before; nil if it is not kept. The payload may be kept.
  func address(
    _ type: ObjectIdentifier, _ name: UnsafeBufferPointer<UInt8>, _ payload: UnsafeRawBufferPointer
  ) -> UnsafeMutableRawPointer? {
    key = (0, 0, 0, 0, 0, 0, 0, 0)
    hash = withUnsafeMutableBytes(of: &key) { bytes in
      UnsafeMutableRawBufferPointer(rebasing: bytes[..<Self.payloadLengthMax]).copyMemory(from: payload)
      UnsafeMutableRawBufferPointer(rebasing: bytes[Self.payloadLengthMax..<(bytes.count - 2)]).copyMemory(
        from: UnsafeRawBufferPointer(name))
      bytes[bytes.count - 2] = UInt8(truncatingIfNeeded: payload.count)
      bytes[bytes.count - 1] = UInt8(truncatingIfNeeded: name.count)
      return XXH64.of(UnsafeRawBufferPointer(bytes))
    }
    guard let found = kept[place], found.type == type, Self.isSame(found.key, key) else { return nil }
    return found.value
  }

  @inline(__always)
  private var place: Int { Int(truncatingIfNeeded: hash & UInt64(Self.placeCount - 1)) }

  private static func isSame(_ a: Key, _ b: Key) -> Bool {
    (a.0 ^ b.0) | (a.1 ^ b.1) | (a.2 ^ b.2) | (a.3 ^ b.3) | (a.4 ^ b.4) | (a.5 ^ b.5) | (a.6 ^ b.6)
      | (a.7 ^ b.7) == 0
  }

  /// Keeps the value of the payload that was looked for last, if it was looked for before. The type is the one that was
  /// asked for: `Value`, or a subclass of it.
  func keep<Value>(_ value: Value, _ type: ObjectIdentifier) {
    guard missed[place] == hash else {
      missed[place] = hash
      return
    }
    remove(at: place)
    let address = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    address.initialize(to: value)
    kept[place] = Kept(type: type, key: key, value: UnsafeMutableRawPointer(address)) {
      let address = $0.assumingMemoryBound(to: Value.self)
      address.deinitialize(count: 1)
      address.deallocate()
    }
  }
}
