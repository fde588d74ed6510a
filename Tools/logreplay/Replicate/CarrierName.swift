// The places of copies as the command line names them: URLs.

internal import StrataReplica

#if Bucket
  internal import StrataBucket
#endif
#if JetStream
  internal import StrataJetStream
#endif

/// A place outside of the machine, by its URL.
enum CarrierName {
  /// The schemes that name a place. What has none of them is a path.
  private static let schemes = ["file:", "s3:", "nats:", "tls:"]

  /// Whether a text names a place, and not a store's folder.
  static func isOne(_ text: String) -> Bool { schemes.contains(where: text.hasPrefix) }

  /// The carrier that a URL names.
  static func carrier(_ text: String) throws(CommandFailure) -> any Carrier {
    if text.hasPrefix("s3:") { return try bucket(text) }
    if text.hasPrefix("nats:") || text.hasPrefix("tls:") { return try jetStream(text) }
    guard text.hasPrefix("file:") else {
      let scheme = text.prefix { $0 != ":" }
      throw CommandFailure(
        ExitStatus.unsupported, "\(scheme): is no place that this version can copy to", at: text,
        next: "name a folder: file:/path")
    }
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
    return FolderCarrier(path: String(path))
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
