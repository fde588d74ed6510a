// Notices that another process changes or removes a kept list while it is followed.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// Watches the row that defines a kept list, in the states that are folded anyway. The definition of a view that an
/// application saved is in no row, and is not watched.
struct KeptListWatch {
  private let name: String
  private let path: String
  /// The end of the log before the definition was read: what changes it later is not shown.
  private let head: UInt64
  /// Whether the definition is in the log.
  private var exists = false

  init(_ name: String, in opened: OpenedStore) {
    self.name = name
    path = opened.path
    head = opened.log.mark.sequence
  }

  /// Takes in the first state.
  mutating func begin(with state: borrowing TableSet) { exists = revision(in: state) != nil }

  /// Throws if the definition changed after it was read. States are to be given in the order of the log.
  mutating func check(_ state: borrowing TableSet) throws(CommandFailure) {
    let revision = revision(in: state)
    guard state.sequence > head else {
      // Earlier definitions do not matter: the list is shown by the one at the head.
      exists = revision != nil
      return
    }
    if let revision, revision > head { throw failure("changed at seq \(revision)") }
    if revision == nil, exists { throw failure("removed by seq \(state.sequence)") }
  }

  private func revision(in state: borrowing TableSet) -> UInt64? {
    var name = name
    let table = state[KeptList.category]
    return name.withUTF8 { id in table.withRow(UnsafeRawBufferPointer(id)) { $0?.revision } }
  }

  private func failure(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.notFound, "the kept list '\(name)' is no longer the one that is shown: it was \(what)",
      at: path,
      next:
        "run the command again; `logreplay at \(path) --table '\(KeptList.category)'` shows the kept lists")
  }
}
