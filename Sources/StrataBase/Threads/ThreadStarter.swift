// Where threads come from.

/// Starts threads. The one of the process asks the system; a test gives a store one of its own, and sees every thread
/// that the store has.
package struct ThreadStarter: Sendable {
  package typealias Start =
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws(FileSystemError) ->
    DedicatedThread

  /// Starts a thread of this name for a closure. Throws where there is none to be had.
  package let start: Start

  package init(_ start: @escaping Start) { self.start = start }

  /// The system's own.
  package static let system = ThreadStarter { (name, body) throws(FileSystemError) in
    try DedicatedThread(name: name, body)
  }
}
