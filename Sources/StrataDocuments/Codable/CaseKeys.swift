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

  private struct Kept {
    var cases: [ObjectIdentifier: [(name: [UInt8], keys: Address)]] = [:]
    var count = 0
  }

  private static let kept = Lock(Kept())

  /// The key with a name, or no key if the type has none of that name.
  static func keys<Key: CodingKey>(_ name: UnsafeBufferPointer<UInt8>) -> [Key] {
    let type = ObjectIdentifier(Key.self)
    let found = kept.withLock { kept -> Address? in
      guard let cases = kept.cases[type] else { return nil }
      for (other, keys) in cases where other.count == name.count {
        if other.withUnsafeBufferPointer({ compareBytes($0, name) == 0 }) { return keys }
      }
      return nil
    }
    if let found { return found.value.assumingMemoryBound(to: [Key].self).pointee }
    guard let key = Key(stringValue: String(decoding: name, as: UTF8.self)) else { return [] }
    let keys = [key]
    kept.withLock { kept in
      guard kept.count < keptCountMax else { return }
      kept.count += 1
      let address = UnsafeMutablePointer<[Key]>.allocate(capacity: 1)
      address.initialize(to: keys)
      kept.cases[type, default: []].append((Array(name), Address(value: UnsafeRawPointer(address))))
    }
    return keys
  }
}
