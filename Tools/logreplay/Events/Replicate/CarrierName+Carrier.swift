// The carriers of the places that the command line names.

package import LogreplayShell
package import StrataReplica

#if Bucket
  internal import StrataBucket
#endif
#if JetStream
  internal import StrataJetStream
#endif

extension CarrierName {
  private static let examples =
    "file:/path, s3://BUCKET/PREFIX?region=R or nats://HOST,HOST,HOST/NAME, in small letters"

  /// The carrier that a URL names.
  package static func carrier(_ text: String) throws(CommandFailure) -> any Carrier {
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
