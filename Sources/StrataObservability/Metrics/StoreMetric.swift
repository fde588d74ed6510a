// The names of all metrics, which the page of this module lists.

/// A metric of a store: its name, what it is, and its unit as UCUM writes it. Compiled without the trait, so that the page
/// is compared with it.
package enum StoreMetric: String, CaseIterable, Sendable {
  case appendsWritten = "strata.append.written"
  case appendsKnown = "strata.append.known"
  case appendConflicts = "strata.append.conflicts"
  case appendsPending = "strata.append.pending"
  case appendsPendingSize = "strata.append.pending_size"
  case eventsWritten = "strata.event.written"
  case logWritten = "strata.log.written"
  case logSize = "strata.log.size"
  case logSegments = "strata.log.segments"
  case logSealed = "strata.log.sealed"
  case logGroups = "strata.log.groups"
  case logSyncs = "strata.log.syncs"
  case logCutTails = "strata.log.cut_tails"
  case derivedSize = "strata.derived.size"
  case derivedDiscarded = "strata.derived.discarded"
  case statesSaved = "strata.state.saved"
  case statesFailed = "strata.state.failed"
  case damageFound = "strata.damage.found"
  case poisoned = "strata.store.poisoned"
  case readerLag = "strata.reader.lag"
  case readerHalted = "strata.reader.halted"
  case observationsDropped = "strata.observation.dropped"
  case commitDuration = "strata.commit.duration"
  case commitAppends = "strata.commit.appends"
  case syncDuration = "strata.sync.duration"
  case foldDuration = "strata.fold.duration"
  case fetchDuration = "strata.fetch.duration"
  case pastDuration = "strata.past.duration"

  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  package var kind: Kind {
    switch self {
    case .appendsPending, .appendsPendingSize, .logSize, .logSegments, .derivedSize, .readerLag: .gauge
    case .commitDuration, .commitAppends, .syncDuration, .foldDuration, .fetchDuration, .pastDuration:
      .histogram
    default: .counter
    }
  }

  package var unit: String {
    switch self {
    case .appendsWritten, .appendsKnown, .appendConflicts, .appendsPending, .commitAppends: "{append}"
    case .eventsWritten, .readerLag: "{event}"
    case .appendsPendingSize, .logWritten, .logSize, .derivedSize: "By"
    case .logSegments, .logSealed: "{segment}"
    case .logGroups: "{group}"
    case .logSyncs: "{sync}"
    case .logCutTails: "{tail}"
    case .derivedDiscarded: "{discard}"
    case .statesSaved, .statesFailed: "{state}"
    case .damageFound: "{finding}"
    case .poisoned: "{failure}"
    case .readerHalted: "{halt}"
    case .observationsDropped: "{observation}"
    case .commitDuration, .syncDuration, .foldDuration, .fetchDuration, .pastDuration: "s"
    }
  }
}
