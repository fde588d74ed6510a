// Which build of a program a type belongs to.

internal import CStrata

/// The executable or library that holds the code of a type.
package enum ProgramImage {
  /// A text that is the same in each run of one build of that image, and another one for any other build: the identity
  /// that the linker gives it. Nil if it gave none, and for a type that is made while the program runs, as those of
  /// generic types are.
  package static func identity(of type: Any.Type) -> String? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = strata_image_identity(unsafeBitCast(type, to: UnsafeRawPointer.self), &bytes, bytes.count)
    guard count > 0 else { return nil }
    return bytes[..<count].map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
