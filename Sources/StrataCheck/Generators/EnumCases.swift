// The cases of an enum without payloads, without help of the enum.

/// The cases of an enum none of which has a payload: those of a `CaseIterable`, or else read from the type's own
/// description, which every program of Swift carries.
///
/// The description is laid out as "Type Metadata" and the ABI's headers say (`TargetEnumDescriptor`): after five words
/// of 32 bits, the number of cases with a payload, and then the number of those without one.
enum EnumCases {
  /// Returns the cases of a type in their order, or nil if the type is no such enum.
  static func all<Value>(of type: Value.Type) -> [Value]? {
    if let listed = type as? any CaseIterable.Type { return cases(of: listed).compactMap { $0 as? Value } }
    // A type's pointer is to its metadata, whose first word says that it is an enum, and whose second one where the
    // description is.
    let metadata = unsafeBitCast(type as Any.Type, to: UnsafeRawPointer.self)
    guard metadata.load(as: UInt.self) == 0x201 else { return nil }
    let description = metadata.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
    // The low bits of its flags say the kind again: 18 is an enum.
    guard description.load(as: UInt32.self) & 0x1F == 18 else { return nil }
    guard description.load(fromByteOffset: 20, as: UInt32.self) & 0xFF_FFFF == 0 else { return nil }
    let count = description.load(fromByteOffset: 24, as: UInt32.self)
    switch MemoryLayout<Value>.size {
    case 0 where count == 1: return [unsafeBitCast((), to: Value.self)]
    case 1 where count > 1 && count <= 256:
      return (0..<count).map { unsafeBitCast(UInt8($0), to: Value.self) }
    default: return nil
    }
  }

  private static func cases<Listed: CaseIterable>(of type: Listed.Type) -> [Any] { Array(type.allCases) }
}
