// Opens the store that a shell writes to, and removes one that was made for nothing.

package import LogreplayShell
package import StrataEvents
internal import StrataLog

/// A store that a command writes to.
package enum ShellStore {
  /// The options of a store. Appends wait in memory until they are on disk; 8 MiB of them keep the disk busy.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.sealsInBackground = false
    options.pendingBytesMax = 8 << 20
    return options
  }

  /// Opens the store, lends it, and closes it. A store that is new, and into which nothing was appended, is removed.
  package static func with<Result>(
    _ path: String, _ choices: WriteOptions, _ body: (EventStore) throws(CommandFailure) -> Result
  ) throws(CommandFailure) -> Result {
    let (store, isNew) = try open(path, choices)
    defer { try? store.closeBlocking() }
    let result: Result
    do throws(CommandFailure) { result = try body(store) } catch {
      if isNew, store.head.sequence == 0 { store.removeEmpty() }
      throw error
    }
    if isNew, store.head.sequence == 0 { store.removeEmpty() }
    do throws(StoreError) { try store.closeBlocking() } catch { throw CommandFailure(reading: path, error) }
    return result
  }

  private static func open(
    _ path: String, _ choices: WriteOptions
  ) throws(CommandFailure) -> (store: EventStore, isNew: Bool) {
    let timeout = try choices.wait.timeout()
    do throws(StoreError) {
      // Opening for reading reports best what is wrong with a path, and creates nothing.
      try EventStore.openBlocking(at: path, .readOnly).closeBlocking()
      return (try choices.wait.open(path, options, timeout), false)
    } catch {
      let isMissing = error.reason == .notFound || error.reason == .notAStore
      guard isMissing, choices.create else {
        var failure = CommandFailure(reading: path, error)
        if isMissing { failure.next = "check the path, or make a new store there with --create" }
        throw failure
      }
    }
    do throws(StoreError) {
      let isNew = try PosixFileSystem().kind(of: path) == nil
      return (try choices.wait.open(path, options, timeout), isNew)
    } catch { throw CommandFailure(error) }
  }
}
