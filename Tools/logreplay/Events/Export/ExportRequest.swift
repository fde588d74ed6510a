// What a command exports, from where and how far.

package import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// The format of an export, as `--format` names it.
package enum ExportFormat: String, CaseIterable {
  case jsonl, csv, tsv, sqlite, sql, cloudevents, ocel, xes
  case ocelSQLite = "ocel-sqlite"

  /// Whether it is one of processes.
  package var isOfProcesses: Bool { self == .ocel || self == .ocelSQLite || self == .xes }

  /// The format that the ending of a name means, before `.gz`; nil for any other name.
  package init?(endingOf name: String) {
    let name = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
    let file = name.split(separator: "/").last ?? ""
    guard let dot = file.lastIndex(of: ".") else { return nil }
    switch file[file.index(after: dot)...] {
    case "jsonl", "ndjson", "json": self = .jsonl
    case "csv": self = .csv
    case "tsv": self = .tsv
    case "sqlite", "sqlite3", "db": self = .sqlite
    case "sql": self = .sql
    case "xes": self = .xes
    case "jsonocel": self = .ocel
    default: return nil
    }
  }
}

/// A store that is open for reading, and the part of it that is exported.
package struct ExportRequest {
  package let opened: OpenedStore
  package let resolver: PointResolver
  /// The point after which the export begins; nil if the command named none, and so the beginning of the log.
  package let from: ResolvedPoint?
  /// The point at which the export ends, and its state for tables.
  package let to: ResolvedPoint
  /// The path to write to, or `-`.
  package let target: String
  /// The format that `--format` names, or the ending of the target's name; nil if neither says one.
  package let format: ExportFormat?
  /// Whether a file that has the target's name is replaced.
  package let replaces: Bool
  package let output: OutputOptions
  /// Whether the command named no end, so that damage after the end of the log would be an error.
  package let hasOpenEnd: Bool

  package init(
    opened: OpenedStore, resolver: PointResolver, from: ResolvedPoint?, to: ResolvedPoint, target: String,
    format: ExportFormat?, replaces: Bool, output: OutputOptions, hasOpenEnd: Bool
  ) {
    self.opened = opened
    self.resolver = resolver
    self.from = from
    self.to = to
    self.target = target
    self.format = format
    self.replaces = replaces
    self.output = output
    self.hasOpenEnd = hasOpenEnd
  }
}
