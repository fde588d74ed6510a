// Whether a text names a place of copies: a URL.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A place outside of the machine, by its URL.
package enum CarrierName {
  /// The schemes that name a place.
  private static let schemes = ["file:", "s3:", "nats:", "tls:"]

  /// Whether a text names a place, and not a store's folder. One with a scheme that is not known does too, unless a file or
  /// a folder has that name.
  package static func isOne(_ text: String) -> Bool {
    schemes.contains(where: text.hasPrefix)
      || scheme(of: text) != nil && !FileManager.default.fileExists(atPath: text)
  }

  /// Whether a file is one of a place, and not of a store.
  static func holds(_ file: String) -> Bool { schemes.contains(where: file.hasPrefix) }

  /// The scheme of a URL, with its colon; nil if the text is none.
  package static func scheme(of text: String) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = text[..<colon].utf8
    guard let first = name.first, isLetter(first),
      name.allSatisfy({
        isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.".utf8.contains($0)
      })
    else { return nil }
    let scheme = String(text[...colon])
    let isKnown = schemes.contains(scheme.lowercased())
    return isKnown || text[colon...].hasPrefix(":/") ? scheme : nil
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
