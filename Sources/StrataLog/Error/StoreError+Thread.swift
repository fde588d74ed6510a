// Threads of the log's own, refused as everything else is.

package import StrataBase

extension DedicatedThread {
  /// Starts a thread; whoever needs its end keeps it. Throws where the system has none to give.
  @discardableResult
  package static func start(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(StoreError) -> DedicatedThread {
    do throws(FileSystemError) { return try DedicatedThread(name: name, body) } catch {
      throw .refused(error)
    }
  }
}
