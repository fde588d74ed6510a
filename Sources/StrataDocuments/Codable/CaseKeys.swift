// The coding keys of the cases of enums, made once for each case.

internal import StrataBase

/// The arrays of one coding key that synthesized decoders of enums ask for. Making one looks up several generic types,
/// and takes longer than reading a short text.
enum CaseKeys {
  /// The most arrays that are kept. There is one for each case of the program's enums, but a type may make a key of any
  /// text.
  private static let keptCountMax = 1_024

  /// The address of an array of keys, which is never freed.
  private struct Address: @unchecked Sendable { var value: UnsafeRawPointer }

  private static let kept = Lock<[ObjectIdentifier: [(name: [UInt8], keys: Address)]]>([:])
  private static let keptCount = Lock(0)

  /// The key with a name, or no key if the type has none of that name.
  static func keys<Key: CodingKey>(_ name: UnsafeBufferPointer<UInt8>) -> [Key] {
    let type = ObjectIdentifier(Key.self)
    let found = kept.withLock { kept -> Address? in
      guard let cases = kept[type] else { return nil }
      for (other, keys) in cases where other.count == name.count {
        if other.withUnsafeBufferPointer({ compareBytes($0, name) == 0 }) { return keys }
      }
      return nil
    }
    if let found { return found.value.assumingMemoryBound(to: [Key].self).pointee }
    guard let key = Key(stringValue: String(decoding: name, as: UTF8.self)) else { return [] }
    let keys = [key]
    guard isRoom() else { return keys }
    let address = UnsafeMutablePointer<[Key]>.allocate(capacity: 1)
    address.initialize(to: keys)
    kept.withLock { $0[type, default: []].append((Array(name), Address(value: UnsafeRawPointer(address)))) }
    return keys
  }

  private static func isRoom() -> Bool {
    keptCount.withLock { count in
      guard count < keptCountMax else { return false }
      count += 1
      return true
    }
  }
}
