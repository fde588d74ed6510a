// Whose keys the next run gets, and what becomes of lists whose keys contradict each other.

internal import StrataBase

extension Historian {
  /// What makes the keys of a run of what was recorded after some runs.
  func makings(of recording: HistoryRecording, after runs: RunSet) -> [KeyMaking] {
    let next = runs.runs.endIndex
    return keyOwners.filter { runs.mayMake(keysOf: $0, for: next..<next, isBase: false) }.map { owner in
      KeyMaking(owner, begin: recording.pending.begin, isBase: false, after: runs.runs(before: next))
    }
  }

  /// Notes the lists of which a run got no keys because these contradicted those before. They are built from the rows
  /// where runs lack their keys, until the process ends: the next one makes them with one code again.
  func noteKeys(of makings: [KeyMaking]) {
    let contradicted = makings.filter(\.isContradicted).map(\.owner.number)
    guard !contradicted.isEmpty else { return }
    state.withLock { $0.contradicted.formUnion(contradicted) }
  }

  /// The same after a merge, whose run takes the place of others.
  func noteKeys(of merge: RunMerge) {
    state.withLock { state in
      state.contradicted.formUnion(merge.contradicted.map(\.number))
      if merge.lacksKeys { state.mayLackKeys = true }
      // What is in memory goes on with keys that were made before.
      if merge.makesKeysOfProgram { state.tail = nil }
    }
  }
}
