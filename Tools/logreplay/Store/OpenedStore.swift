// A store as the commands that only read have it: open up to what is damaged.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

/// The argument that every command begins with.
struct StoreArgument: ParsableArguments, Sendable {
  @Argument(help: "The store's folder.")
  var store: String
}

/// An open store, and the path that the user gave for it.
struct OpenedStore: Sendable {
  let path: String
  let store: EventStore

  var log: Log { store.log }

  /// Opens a store for reading, beside a running writer or without one. Blocks.
  static func open(_ path: String) throws(CommandFailure) -> OpenedStore {
    var options = StoreOptions()
    options.readsDamaged = true
    do throws(StoreError) {
      return OpenedStore(
        path: path, store: try EventStore.openBlocking(at: path, .readOnly, options: options))
    } catch { throw CommandFailure(reading: path, error) }
  }

  /// A store's error with the place that the user knows.
  func failure(_ error: StoreError) -> CommandFailure { CommandFailure(reading: path, error) }

  /// Says on standard error what stands behind the visible end, and throws if that is damage. For the end of
  /// whatever read up to there.
  func reportEnd() throws(CommandFailure) {
    try throwDamage()
    guard log.tornBytes > 0 else { return }
    Terminal.note(
      "logreplay: warning: \(log.tornBytes) bytes of an unfinished write stand behind the end; "
        + "nothing acknowledged is lost")
  }

  /// Throws if what stands behind the visible end is damage: nothing ever comes behind that.
  func throwDamage() throws(CommandFailure) {
    guard let damage = log.damage else { return }
    throw failure(.found(damage))
  }
}

extension CommandFailure {
  /// The error of a store that was to be read at a path: what is no store there is one that does not exist,
  /// and a file of the store is named with the store.
  init(reading path: String, _ error: StoreError) {
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
