// Where threads come from.

/// Starts threads. The one of the process asks the system; a test gives a store one of its own, and sees every thread
/// that the store has.
package struct ThreadStarter: Sendable {
  private let body:
    @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws -> DedicatedThread

  /// - Parameter start: starts a thread of this name for a closure, or throws a `FileSystemError` where there is none.
  package init(
    _ start:
      @escaping @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws -> DedicatedThread
  ) {
    body = start
  }

  /// The system's own.
  package static let system = ThreadStarter { name, body in try DedicatedThread(name: name, body) }

  /// Nil where there is no thread to be had.
  package func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> DedicatedThread? {
    try? self.body(name, body)
  }
}
