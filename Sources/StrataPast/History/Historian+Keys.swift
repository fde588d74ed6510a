// Whose keys the next run gets, and what becomes of a list whose code makes other keys of the same rows.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension Historian {
  /// Whose keys the runs are to have.
  var keyOwners: [KeyOwner] { [.rows] + state.withLock { $0.keptLists } }

  var lists: [ListHistory] {
    let (owners, runs) = state.withLock { ($0.lists, $0.runs) }
    return owners.compactMap { ListHistory($0, in: runs) }
  }

  func keep(_ definition: ViewDefinition, of table: String) {
    guard definition.kept != nil else { return }
    state.withLock { $0.keep(definition, of: table) }
    start()
  }

  /// What makes the keys of a run of what was recorded after some runs.
  func makings(of recording: HistoryRecording, after runs: RunSet) -> [KeyMaking] {
    let next = runs.runs.endIndex
    return keyOwners.filter { runs.haveKeys(of: $0, before: next) }.map { owner in
      KeyMaking(owner, begin: recording.pending.begin, isBase: false, after: runs.runs(before: next))
    }
  }

  /// Leaves a list out of the runs to come. It is built from the rows where runs lack its keys, until the process ends:
  /// the next one makes them with one code again.
  func leaveOut(_ list: KeyOwner) { state.withLock { $0.leaveOut(list) } }
}
