// Activities as lines of a log.

#if Observability
  internal import Logging
  internal import StrataBase
  internal import StrataLog

  /// Sends activities to a logger: a level, a sentence without values, and values under the keys that the page lists.
  struct ActivityLog: Sendable {
    let logger: Logger
    let store: String?
    /// Whether what the program's code and the findings of checks say is logged, which may hold content of events or name
    /// streams.
    let logsContents: Bool

    func write(_ activity: StoreActivity) {
      var line = line(of: activity)
      if let store { line.metadata["strata.store"] = "\(store)" }
      logger.log(level: line.level, "\(line.message)", metadata: line.metadata)
    }

    private func line(
      of activity: StoreActivity
    ) -> (level: Logger.Level, message: String, metadata: Logger.Metadata) {
      switch activity {
      case .tailFound(let tail):
        return (.notice, "an unfinished write was found after the end of the log", metadata(of: tail))
      case .tailCut(let tail):
        return (.notice, "an unfinished write was cut off, and a copy is kept", metadata(of: tail))
      case .slowSync(let time): return (.warning, "a sync was slow", ["strata.duration": "\(time.seconds)"])
      case .stateSaved(let projection, let sequence, let bytes):
        return (
          .debug, "a state was saved",
          [
            "strata.projection": "\(projection)", "strata.sequence": "\(sequence)",
            "strata.bytes": "\(bytes)",
          ]
        )
      case .stateFailed(let projection, let error):
        return (
          .warning, "a state could not be saved",
          ["strata.projection": "\(projection)", "strata.error": "\(name(of: error))"]
        )
      case .discarded(let kind, let projection, let why):
        var metadata: Logger.Metadata = ["strata.kind": "\(kind.rawValue)", "strata.why": "\(why)"]
        if let projection { metadata["strata.projection"] = "\(projection)" }
        return (.notice, "derived files are not used, and are made from the log again", metadata)
      case .halted(let kind, let name, let sequence, let what):
        var metadata: Logger.Metadata = [
          "strata.reader.kind": "\(kind.rawValue)", "strata.reader.name": "\(name)",
        ]
        if let sequence { metadata["strata.sequence"] = "\(sequence)" }
        if logsContents { metadata["strata.error"] = "\(what)" }
        return (.error, "a reader of the log halted at an event", metadata)
      case .damage(let finding):
        var metadata: Logger.Metadata = [
          "strata.kind": "\(finding.class.rawValue)", "strata.file": "\(finding.file)",
          "strata.offset": "\(finding.offset)", "strata.first": "\(finding.first)",
          "strata.last": "\(finding.last)",
        ]
        if logsContents { metadata["strata.error"] = "\(finding.what)" }
        return (.critical, "bytes on disk are not those that were written", metadata)
      case .poisoned(let error):
        return (
          .critical, "the store accepts nothing more, and must be opened again",
          ["strata.error": "\(name(of: error))"]
        )
      case .missed(let count):
        return (.warning, "observations were dropped", ["strata.count": "\(count)"])
      }
    }

    private func metadata(of tail: TailRecovery) -> Logger.Metadata {
      var metadata: Logger.Metadata = [
        "strata.file": "\(tail.file)", "strata.offset": "\(tail.offset)", "strata.bytes": "\(tail.byteCount)",
      ]
      if let path = tail.keptPath { metadata["strata.kept"] = "\(path)" }
      return metadata
    }

    /// What kind of error it is; all of it only where contents are logged.
    private func name(of error: StoreError) -> String {
      if logsContents { return "\(error)" }
      if let reason = error.reason { return reason.rawValue }
      switch error {
      case .full: return "full"
      case .damaged: return "damaged"
      case .invalid: return "invalid"
      default: return "other"
      }
    }
  }

  extension Duration {
    /// As seconds, for units of metrics and logs.
    var seconds: Double { Double(wholeNanoseconds) / 1_000_000_000 }
  }
#endif
