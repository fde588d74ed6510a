// The places of copies as the command line names them: URLs.

internal import StrataReplica

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if Bucket
  internal import StrataBucket
#endif
#if JetStream
  internal import StrataJetStream
#endif

/// A place outside of the machine, by its URL.
enum CarrierName {
  /// The schemes that name a place.
  private static let schemes = ["file:", "s3:", "nats:", "tls:"]
  private static let examples =
    "file:/path, s3://BUCKET/PREFIX?region=R or nats://HOST,HOST,HOST/NAME, in small letters"

  /// Whether a text names a place, and not a store's folder. One with a scheme that is not known does too, unless a file or
  /// a folder has that name.
  static func isOne(_ text: String) -> Bool {
    schemes.contains(where: text.hasPrefix)
      || scheme(of: text) != nil && !FileManager.default.fileExists(atPath: text)
  }

  /// Whether a file is one of a place, and not of a store.
  static func holds(_ file: String) -> Bool { schemes.contains(where: file.hasPrefix) }

  /// The scheme of a URL, with its colon; nil if the text is none.
  private static func scheme(of text: String) -> String? {
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

  /// The carrier that a URL names.
  static func carrier(_ text: String) throws(CommandFailure) -> any Carrier {
    if text.hasPrefix("s3:") { return try bucket(text) }
    if text.hasPrefix("nats:") || text.hasPrefix("tls:") { return try jetStream(text) }
    if text.hasPrefix("file:") { return FolderCarrier(path: try folder(text)) }
    // A URL that is not known may have a password.
    if let scheme = scheme(of: text) {
      throw CommandFailure(
        ExitStatus.usage, "the scheme \(scheme) is unknown", at: scheme, next: "name a place as \(examples)")
    }
    throw CommandFailure(
      ExitStatus.usage, "a place is named by a URL, and this is a path", at: text,
      next: "write \(ShellWord.of("file:\(text)"))")
  }

  /// The path of a folder's URL, as it is there: nothing of it is decoded.
  private static func folder(_ text: String) throws(CommandFailure) -> String {
    var path = text.dropFirst("file:".count)
    if path.hasPrefix("//") {
      path = path.dropFirst(2)
      guard path.hasPrefix("/") else {
        throw CommandFailure(
          ExitStatus.usage, "the URL names a host", at: text, next: "write the path of a folder: file:/path")
      }
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw CommandFailure(
        ExitStatus.usage, "the URL has no path", at: text, next: "write the path of a folder: file:/path")
    }
    guard !path.hasPrefix("~") else {
      throw CommandFailure(
        ExitStatus.usage, "neither the shell nor this command replaces ~ in a URL", at: text,
        next: "write \"file:$HOME/…\"; or file:./~… if the name begins so")
    }
    return String(path)
  }

  /// No failure has the URL: what people write into one may be a key that is secret.
  private static func bucket(_ url: String) throws(CommandFailure) -> any Carrier {
    #if Bucket
      do throws(CarrierError) { return try BucketCarrier(url: url) } catch {
        throw CommandFailure(ExitStatus.usage, error.what, at: "s3:", next: error.next)
      }
    #else
      throw CommandFailure(
        ExitStatus.unsupported, "this logreplay was built without buckets", at: "s3:",
        next: "build one with them, which needs libcurl4-openssl-dev: "
          + "swift build -c release --traits Bucket --product logreplay; or name a folder: file:/path")
    #endif
  }

  /// A stream of JetStream. What is wrong with its URL is said without the URL, which may have a password.
  private static func jetStream(_ url: String) throws(CommandFailure) -> any Carrier {
    #if JetStream
      do throws(CarrierError) { return try JetStreamCarrier(url: url) } catch {
        throw CommandFailure(ExitStatus.usage, error.what, at: "nats:", next: error.next)
      }
    #else
      throw CommandFailure(
        ExitStatus.unsupported, "this logreplay was built without JetStream", at: "nats:",
        next: "build one with it, which needs libnats-dev: "
          + "swift build -c release --traits JetStream --product logreplay; or name a folder: file:/path")
    #endif
  }
}
