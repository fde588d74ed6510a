// Which build of a program a type belongs to.

internal import CStrata

/// The executable or library that holds the code of a type.
package enum ProgramImage {
  /// The full name of a type, the same in each run of one build.
  package static func name(of type: Any.Type) -> String { stable(String(reflecting: type)) }

  /// A text with names of types, made the same in each run of one build. Swift's name of a private or local type has an
  /// address, which is another one in each run; here it counts from the begin of the image that holds it. An address
  /// that no image holds stays.
  package static func stable(_ text: String) -> String {
    let parts = text.split(separator: mark, omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(into: String(parts[0])) { stable, part in
      let digits = part.prefix { $0.isHexDigit }
      let offset = UInt(digits, radix: 16).map { strata_image_offset($0) } ?? 0
      if offset > 0 {
        stable += "(unknown context at +\(String(offset, radix: 16))\(part[digits.endIndex...])"
      } else {
        stable += mark + part
      }
    }
  }

  /// Whether a type has the same name in every build: it is neither private nor local.
  package static func hasLastingName(_ type: Any.Type) -> Bool { !String(reflecting: type).contains(mark) }

  private static let mark = "(unknown context at $"

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
