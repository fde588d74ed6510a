// A store that is open for reading, up to the first damage.

package import ArgumentParser
package import StrataEvents
package import StrataLog

/// The first argument of every command: the store.
package struct StoreArgument: ParsableArguments, Sendable {
  @Argument(help: "The store's folder.")
  package var store: String

  package init() {}

  package func validate() throws {
    if store.isEmpty { throw ValidationError("the store's path is empty; give the path of a folder") }
  }
}

/// An open store, and the path that the user gave for it.
package struct OpenedStore: Sendable {
  package let path: String
  package let store: EventStore

  package init(path: String, store: EventStore) {
    self.path = path
    self.store = store
  }

  package var log: Log { store.log }

  /// The bytes that may be in memory before they go to a file.
  private static let unsavedSizeOfScratch = 32 << 20

  /// Opens a store for reading, whether or not a writer is running. Blocks.
  ///
  /// - Parameters:
  ///   - scratch: the folder for what states of the past have that is too much for memory, in files without a name; nil if
  ///     it stays in memory.
  ///   - pageCacheSize: the most bytes of saved pages that are kept; nil for what the options say. States of the past that
  ///     are replayed take what they would otherwise.
  package static func open(
    _ path: String, scratch: String? = nil, pageCacheSize: Int? = nil
  ) throws(CommandFailure) -> OpenedStore {
    var options = StoreOptions()
    if let pageCacheSize {
      options.unsavedSize = options.pageCacheSize
      options.pageCacheSize = pageCacheSize
    }
    options.pastFolder = scratch
    if scratch != nil { options.unsavedSize = unsavedSizeOfScratch }
    options.readsDamaged = true
    // A command that reads writes nothing.
    options.readersSaveStates = false
    do throws(StoreError) {
      return OpenedStore(
        path: path, store: try EventStore.openBlocking(at: path, .readOnly, options: options))
    } catch { throw CommandFailure(reading: path, error) }
  }

  /// A store's error with the path that the user gave.
  package func failure(_ error: StoreError) -> CommandFailure { CommandFailure(reading: path, error) }

  /// Reports on standard error what follows the visible end, and throws if that is damage. To be called after reading
  /// up to the end.
  package func reportEnd() throws(CommandFailure) {
    try throwDamage()
    guard log.tornBytes > 0 else { return }
    Terminal.note(
      "logreplay: warning: \(counted(log.tornBytes, "byte")) of an unfinished write after the end of the log; "
        + "nothing acknowledged is lost")
  }

  /// The same, if what was read depends on where the log ends.
  package func throwDamage(if dependsOnEnd: Bool) throws(CommandFailure) {
    if dependsOnEnd { try reportEnd() }
  }

  /// Throws if the visible end is followed by damage: no further event can be read after it.
  package func throwDamage() throws(CommandFailure) {
    guard let damage = log.damage else { return }
    throw failure(.found(damage))
  }
}

extension CommandFailure {
  /// The error of opening or reading the store at a path. A path that is not a store is reported as not found, and a
  /// file of the store is named with the store's path.
  package init(reading path: String, _ error: StoreError) {
    self.init(error)
    if error.reason == .notFound || error.reason == .notAStore {
      code = ExitStatus.notFound
      next = "check the path"
    } else if let finding = error.finding {
      let file =
        finding.file.hasPrefix(path) ? finding.file : "\(StoreLayout(root: path).root)/\(finding.file)"
      place = "\(file) at byte \(finding.offset)"
    } else if place.isEmpty {
      place = path
    }
  }
}
