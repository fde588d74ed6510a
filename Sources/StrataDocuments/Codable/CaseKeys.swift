// The coding keys of the cases of an enum, made once for each case.

/// The arrays of one coding key that the synthesized decoder of an enum asks for. Making one looks up several generic
/// types, and takes longer than reading a short text. All keys are of one type.
final class CaseKeys {
  /// The most arrays that are kept. There is one for each case of an enum, but a type may make a key of any text.
  private static let keptCountMax = 256

  private struct Kept {
    let name: [UInt8]
    /// The address of an array of keys. It is not typed, since finding out its type takes long.
    let keys: UnsafeMutableRawPointer
    let free: (UnsafeMutableRawPointer) -> Void
  }

  @exclusivity(unchecked) private var kept: [Kept] = []

  deinit {
    for kept in kept { kept.free(kept.keys) }
  }

  /// The key with a name, or no key if the type has none of that name.
  func keys<Key: CodingKey>(_ name: UnsafeBufferPointer<UInt8>) -> [Key] {
    for place in kept.indices where kept[place].name.count == name.count {
      if kept[place].name.withUnsafeBufferPointer({ compareBytes($0, name) == 0 }) {
        return kept[place].keys.assumingMemoryBound(to: [Key].self).pointee
      }
    }
    return newKeys(name)
  }

  /// Apart, because making a key looks up types.
  @inline(never)
  private func newKeys<Key: CodingKey>(_ name: UnsafeBufferPointer<UInt8>) -> [Key] {
    guard let key = Key(stringValue: String(decoding: name, as: UTF8.self)) else { return [] }
    if kept.count < Self.keptCountMax {
      let address = UnsafeMutablePointer<[Key]>.allocate(capacity: 1)
      address.initialize(to: [key])
      kept.append(
        Kept(name: Array(name), keys: address) { keys in
          let keys = keys.assumingMemoryBound(to: [Key].self)
          keys.deinitialize(count: 1)
          keys.deallocate()
        })
    }
    return [key]
  }
}
