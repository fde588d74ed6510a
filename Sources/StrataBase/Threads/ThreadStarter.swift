// The function that starts threads, which tests can replace.

/// A way to start threads. The default one asks the system; a test can give a store another one, which sees every
/// thread that the store starts.
package struct ThreadStarter: Sendable {
  package typealias Start =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(FileSystemError) ->
    DedicatedThread

  /// Starts a thread with a name for a closure. Throws if the system cannot start one.
  package let start: Start

  package init(_ start: @escaping Start) { self.start = start }

  /// Starts threads of the system.
  package static let system = ThreadStarter { (name, body) throws(FileSystemError) in
    try DedicatedThread(name: name, body)
  }
}
