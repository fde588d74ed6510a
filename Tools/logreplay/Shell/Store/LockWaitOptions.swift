// `--wait`: how long a command that writes waits for another writer.

internal import ArgumentParser
internal import LogreplayPoints
package import StrataEvents
package import StrataLog

/// The option of commands that take the writer's lock.
package struct LockWaitOptions: ParsableArguments, Sendable {
  @Option(
    name: .customLong("wait"),
    help: "If another process has the store, wait this long for it, such as 30s, 500ms or 5m. Default: 200ms."
  )
  var length: String?

  /// How long to wait; nil if the option is not given.
  package func timeout() throws(CommandFailure) -> Duration? {
    guard let length else { return nil }
    return try lengthOfTime(length, of: "--wait")
  }

  /// Opens a store for writing. If another process has it, says which one, and waits for up to `timeout`. Blocks.
  package func open(
    _ path: String, _ options: StoreOptions, _ timeout: Duration?
  ) throws(StoreError) -> EventStore {
    var options = options
    guard let timeout else { return try EventStore.openBlocking(at: path, options: options) }
    options.lockTimeout = .zero
    do throws(StoreError) { return try EventStore.openBlocking(at: path, options: options) } catch {
      guard case .locked = error, timeout > .zero else { throw error }
      Terminal.note("logreplay: \(PeopleText.printable(error.what)); waiting for it up to \(length ?? "")")
    }
    options.lockTimeout = timeout
    return try EventStore.openBlocking(at: path, options: options)
  }
}

/// A length of time as options take it: numbers with units, or seconds.
package func lengthOfTime(_ text: String, of option: String) throws(CommandFailure) -> Duration {
  let length = TimeText.duration(text) ?? Double(text).flatMap { Int64(exactly: ($0 * 1e9).rounded()) }
  guard let length, length >= 0 else {
    throw CommandFailure(
      ExitStatus.usage, "'\(text)' is not a length of time", at: option,
      next: "write a number and a unit, such as 10s, 500ms or 2m")
  }
  return .nanoseconds(length)
}
