// The mappings that the command has, and those of files.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Mappings by name, or by the path of a file.
enum ImportMappingFiles {
  /// The longest file that is read as a mapping.
  private static let lengthMax = 1 << 20

  /// The mappings that are part of the command. The page on moving data shows them.
  static let named: [(name: String, text: String)] = [
    ("couchdb", couchDB), ("journald", journald), ("kurrentdb", kurrentDB),
  ]

  /// Reads the mapping that an option names: one of those above, or else a file.
  static func read(_ source: ImportMappingSource) throws(CommandFailure) -> ImportMapping {
    if let text = named.first(where: { $0.name == source.name })?.text {
      return try ImportMapping(Array(text.utf8), of: source)
    }
    return try ImportMapping(try content(of: source.name), of: source)
  }

  private static func content(of path: String) throws(CommandFailure) -> [UInt8] {
    let names = named.map(\.name).joined(separator: ", ")
    guard let file = FileManager.default.contents(atPath: path) else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no mapping of this name, and no file that can be read", at: path,
        next: "give the path of a file, or one of \(names)")
    }
    guard file.count <= lengthMax else {
      throw CommandFailure(
        ExitStatus.usage, "the mapping has more than \(lengthMax) bytes", at: path,
        next: "check that this is a mapping")
    }
    return Array(file)
  }

  /// `GET /DATABASE/_changes?feed=continuous&include_docs=true`. The revision is part of each document, so that a document
  /// that did not change is the row that the store has.
  private static let couchDB = """
    {
      "mapping": 1,
      "about": "CouchDB: the lines of _changes?feed=continuous&include_docs=true",
      "compare": true,
      "rules": [
        {"when": "id == null && last_seq != null", "skip": true},
        {"when": "id beginsWith '_design/'", "skip": true},
        {
          "id": "id",
          "deleted": "deleted",
          "document": "doc",
          "metadata": {"seq": "seq"}
        }
      ]
    }
    """

  /// `journalctl -o json`. The cursor says which entry it is, on every machine.
  private static let journald = """
    {
      "mapping": 1,
      "about": "systemd's journal: the lines of journalctl -o json --all",
      "append-id": "__CURSOR",
      "byte-arrays": true,
      "table": {"value": "journal"},
      "id": "__CURSOR",
      "time": "__REALTIME_TIMESTAMP",
      "time-format": "us"
    }
    """

  /// The entries of `GET /streams/$all/…?embed=body`. Streams and types that begin with a dollar sign are KurrentDB's own.
  private static let kurrentDB = """
    {
      "mapping": 1,
      "about": "KurrentDB and EventStoreDB: the entries of /streams/$all?embed=body, a line each",
      "append-id": "eventId",
      "rules": [
        {"when": "streamId beginsWith '$' || eventType beginsWith '$'", "skip": true},
        {
          "stream": {"field": "streamId", "category-ends": "-"},
          "type": "eventType",
          "time": "updated",
          "document": {"field": "data", "as": "json"},
          "metadata": {
            "eventNumber": "eventNumber",
            "metadata": {"field": "metaData", "as": "json", "optional": true}
          }
        }
      ]
    }
    """
}
