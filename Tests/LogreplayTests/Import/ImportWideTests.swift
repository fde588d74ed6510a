// Inputs with more columns, attributes and bytes than one argument, one comparison each, or memory would take.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportWideTests {
  @Test(.enabled(if: importHasPython && importHasSQLite), arguments: [700, 1_999])
  func `a table of SQLite has as many columns as SQLite takes`(count: Int) async throws {
    let folder = try ImportFolder()
    _ = try importPython(
      """
      import sqlite3, sys
      count = int(sys.argv[2]); db = sqlite3.connect(sys.argv[1])
      db.execute("CREATE TABLE t (id, %s)" % ", ".join('"a column of the name %d\\n;"' % n for n in range(count)))
      db.execute("INSERT INTO t VALUES ('x', %s)" % ", ".join("?" * count), list(range(count)))
      db.commit()
      """, folder.file("a.db"), String(count))
    try await folder.run([folder.file("a.db"), "--table", "t", "--id", "id"])
    let document = try #require(try await folder.documents().first)
    #expect(document["a column of the name 0\n;"] == 0)
    #expect(document["a column of the name \(count - 1)\n;"] == .int(Int64(count - 1)))
    guard case .object(let fields) = document else { return }
    #expect(fields.count == count + 1)
  }

  @Test(.enabled(if: importHasPython && importHasSQLite))
  func `a name that the program would read as another one is refused in a wide table, and kept in others`()
    async throws
  {
    for (count, isKept) in [(3, true), (1_000, false)] {
      let folder = try ImportFolder()
      _ = try importPython(
        """
        import sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        db.execute('CREATE TABLE t (id, "a\\r\\nb", %s)' % ", ".join("column_%d" % n for n in range(int(sys.argv[2]))))
        db.execute("INSERT INTO t (id, column_0) VALUES ('x', 1)"); db.commit()
        """, folder.file("a.db"), String(count))
      guard isKept else {
        let failure = try await folder.failure(of: [folder.file("a.db"), "--table", "t", "--id", "id"])
        #expect(failure.code == 65 && failure.what.contains("carriage return"), "\(failure)")
        continue
      }
      try await folder.run([folder.file("a.db"), "--table", "t", "--id", "id"])
      #expect(try await folder.documents()[0]["a\r\nb"] == .null)
    }
  }

  @Test(.enabled(if: importHasPython && importHasSQLite))
  func `a database of OCEL has types of hundreds of attributes`() async throws {
    let folder = try ImportFolder()
    _ = try importPython(
      """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1]); names = ["attribute number %d" % n for n in range(1500)]
      for table in ["event", "object"]:
          db.execute("CREATE TABLE %s (ocel_id, ocel_type)" % table)
          db.execute("CREATE TABLE %s_map_type (ocel_type, ocel_type_map)" % table)
      db.execute("CREATE TABLE event_object (ocel_event_id, ocel_object_id, ocel_qualifier)")
      db.execute("CREATE TABLE object_object (ocel_source_id, ocel_target_id, ocel_qualifier)")
      db.execute("CREATE TABLE event_a (ocel_id, ocel_time, %s)" % ", ".join('"%s"' % name for name in names))
      db.execute("INSERT INTO event_map_type VALUES ('a', 'a')"); db.execute("INSERT INTO event VALUES ('e', 'a')")
      db.execute("INSERT INTO event_a VALUES ('e', '2026-01-01 00:00:00', %s)" % ", ".join("?" * 1500), list(range(1500)))
      db.commit()
      """, folder.file("log.db"))
    try await folder.run([folder.file("log.db"), "--format", "ocel"])
    #expect(try await folder.documents()[0]["attribute number 1499"] == 1499)
  }

  @Test(.timeLimit(.minutes(2)))
  func `an element of XML with many attributes takes time in proportion to them`() async throws {
    let folder = try ImportFolder()
    // Compared in pairs, these would be twenty thousand million comparisons.
    let attributes = (0..<200_000).map { "a\($0)=\"1\"" }.joined(separator: " ")
    try folder.write("<log><trace><event \(attributes) a7=\"1\"/></trace></log>", to: "a.xes")
    let failure = try await folder.failure(of: [folder.file("a.xes")])
    #expect(failure.code == 65 && failure.what.contains("\"a7\" comes twice"), "\(failure)")
  }

  @Test func `a line of events that is longer than any event is refused by its number, in bounded memory`()
    async throws
  {
    let folder = try ImportFolder()
    let outcome = try await LogreplayProcess.shell(
      """
      { printf '{"stream":"a/1","type":"x","data":1}\\n{"stream":"a/1","type":"x","data":['
        yes 1, | tr -d '\\n' | head -c 400000000; echo '1]}'; } 2>/dev/null |
        { ulimit -v 1500000; "$0" import "$1" - --events --source big 2>&1 || echo "code $?"; }
      """, folder.store)
    #expect(outcome.output.contains("line 2 has more than 135266304 bytes"), "\(outcome)")
    #expect(outcome.lines.last == "code 65", "\(outcome)")
    #expect(try await folder.appends().count == 1)
  }

  @Test func `a value of many numbers is no document on its way in, and takes memory for its bytes`()
    async throws
  {
    let folder = try ImportFolder()
    let outcome = try await LogreplayProcess.shell(
      """
      { printf '{"stream":"a/1","type":"x","data":['; yes 1, | tr -d '\\n' | head -c 120000000; echo '1]}'; } 2>/dev/null |
        { ulimit -v 1500000; "$0" import "$1" - --events --source big; }
      """, folder.store)
    #expect(outcome.code == 0 && outcome.output.hasPrefix("1 append read, 1 appended"), "\(outcome)")
  }
}
