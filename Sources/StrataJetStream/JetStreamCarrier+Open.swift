// The carrier of a URL.

#if JetStream
  internal import Foundation
  public import StrataReplica

  extension JetStreamCarrier {
    /// A copy in JetStream. Nothing is asked of the servers before the first call.
    ///
    /// - Parameters:
    ///   - url: `nats://HOST:PORT,HOST2:PORT2/NAME`, or `tls://`. NAME is the copy: letters, digits, `-` and `_`. Name every
    ///     server, so that one that is down is passed over. `?replicas=1` says that one replica is enough.
    ///   - credentials: who asks. Without them those of the URL count, and then those of the environment.
    /// - Throws: `unfit` if the URL cannot be used. Its text is not repeated.
    public convenience init(url: String, credentials: JetStreamCredentials? = nil) throws(CarrierError) {
      let (address, user) = try JetStreamAddress.parse(url)
      let environment = JetStreamCredentials.environment(ProcessInfo.processInfo.environment)
      self.init(address, over: NATSLink(address, as: credentials ?? user ?? environment))
    }
  }
#endif
