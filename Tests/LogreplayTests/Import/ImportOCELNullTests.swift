// Databases of OCEL 2.0 with NULL, and with what belongs to nothing: each is refused by name, and nothing is lost.

import Foundation
import StrataDocuments
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(.enabled(if: importHasSQLite, "sqlite3 is not installed"))
struct ImportOCELNullTests {
  /// A log of one event and one object, with a change.
  private static func log(_ folder: ImportFolder, _ change: String) throws -> String {
    let file = folder.file("log.db")
    let made = try ImportProcess.run(
      "/usr/bin/sqlite3",
      [
        file,
        """
        CREATE TABLE event(ocel_id TEXT, ocel_type TEXT); CREATE TABLE object(ocel_id TEXT, ocel_type TEXT);
        CREATE TABLE event_object(ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);
        CREATE TABLE object_object(ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT);
        CREATE TABLE event_map_type(ocel_type TEXT, ocel_type_map TEXT);
        CREATE TABLE object_map_type(ocel_type TEXT, ocel_type_map TEXT);
        CREATE TABLE event_a(ocel_id TEXT, ocel_time TEXT, n);
        CREATE TABLE object_t(ocel_id TEXT, ocel_time TEXT, ocel_changed_field TEXT, v);
        INSERT INTO event_map_type VALUES('a','a'); INSERT INTO object_map_type VALUES('t','t');
        INSERT INTO event VALUES('e1','a'); INSERT INTO event_a VALUES('e1','2026-01-01 00:00:00',1);
        INSERT INTO object VALUES('o1','t'); INSERT INTO object_t VALUES('o1','1970-01-01 00:00:00',NULL,2);
        INSERT INTO event_object VALUES('e1','o1','q');
        \(change)
        """,
      ])
    try #require(made.code == 0, "\(made.errors)")
    return file
  }

  @Test func `NULL in a log of OCEL, and what belongs to nothing, is refused by name`() async throws {
    for (change, words) in [
      ("INSERT INTO event_map_type VALUES(NULL,'b')", ["event_map_type", "without a type (NULL)"]),
      ("INSERT INTO event_map_type VALUES('b',NULL)", ["event_map_type", "(NULL)", "\"b\""]),
      ("INSERT INTO object_map_type VALUES(NULL,'u')", ["object_map_type", "without a type (NULL)"]),
      ("INSERT INTO object_map_type VALUES('u',NULL)", ["object_map_type", "(NULL)", "\"u\""]),
      ("INSERT INTO event_map_type VALUES('a','a')", ["event_map_type", "\"a\" twice"]),
      ("INSERT INTO event VALUES('e2',NULL)", ["the event \"e2\"", "no type"]),
      ("INSERT INTO event VALUES('e2','b')", ["the event \"e2\"", "type"]),
      ("INSERT INTO event VALUES(NULL,'a')", ["event", "without an id (NULL)"]),
      ("INSERT INTO object VALUES('o2',NULL)", ["the object \"o2\"", "no type"]),
      ("INSERT INTO object VALUES(NULL,'t')", ["object", "without an id (NULL)"]),
      ("INSERT INTO event_a VALUES('e9','2026-01-01 00:00:00',1)", ["event_a", "\"e9\"", "no such event"]),
      ("INSERT INTO event_a VALUES(NULL,'2026-01-01 00:00:00',1)", ["event_a", "no id (NULL)"]),
      (
        "INSERT INTO object_t VALUES('o9','1970-01-01 00:00:00',NULL,2)",
        ["object_t", "\"o9\"", "no such object"]
      ),
      ("INSERT INTO event_object VALUES(NULL,'o1','q')", ["event_object", "ocel_event_id (NULL)"]),
      ("INSERT INTO event_object VALUES('e9','o1','q')", ["event_object", "\"e9\""]),
      ("INSERT INTO object_object VALUES(NULL,'o1','q')", ["object_object", "ocel_source_id (NULL)"]),
      ("INSERT INTO object_object VALUES('o1',NULL,'q')", ["\"objectId\""]),
    ] {
      let folder = try ImportFolder()
      let failure = try await folder.failure(of: [try Self.log(folder, change), "--format", "ocel"])
      #expect(failure.code == 65 && words.allSatisfy { failure.what.contains($0) }, "\(change): \(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
    }
    let folder = try ImportFolder()
    #expect(try await folder.run([try Self.log(folder, ""), "--format", "ocel"]).appended == 2)
  }

  @Test func `an id that two events of OCEL have, or two objects, is named, and nothing is appended`()
    async throws
  {
    for change in [
      "INSERT INTO event VALUES('e1','a')", "INSERT INTO event_a VALUES('e1','2026-01-02 00:00:00',1)",
    ] {
      let folder = try ImportFolder()
      let failure = try await folder.failure(of: [try Self.log(folder, change), "--format", "ocel"])
      #expect(failure.code == 65 && failure.what.contains("two events with one id \"e1\""), "\(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
    }
    for (text, what) in [
      (
        #"{"events":[{"id":"e","type":"a","time":"2026-01-01T00:00:00Z"},{"id":"f","type":"a","time":"2026-01-01T00:00:00Z"},{"id":"e","type":"a","time":"2026-01-01T00:00:00Z"}],"objects":[]}"#,
        "two events with one id \"e\""
      ),
      (
        #"{"events":[],"objects":[{"id":"o","type":"t"},{"id":"o","type":"u"}]}"#,
        "two objects with one id \"o\""
      ),
    ] {
      let folder = try ImportFolder()
      try folder.write(text, to: "a.jsonocel")
      let failure = try await folder.failure(of: [folder.file("a.jsonocel")])
      #expect(failure.code == 65 && failure.what.contains(what), "\(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
    }
  }
}
