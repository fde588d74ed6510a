// What is next to an input, or in it, that would falsify the import: journals, functions, the file of bad records, the end.

import Foundation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite struct ImportGuardTests {
  private func sqlite(_ folder: ImportFolder, _ statements: String) throws {
    let outcome = try ImportProcess.run(
      "/usr/bin/env", ["sqlite3", "-bail", folder.file("a.db"), statements])
    #expect(outcome.code == 0, "\(outcome)")
  }

  @Test(.enabled(if: importHasSQLite, "sqlite3 is not installed"))
  func `a view calls no function of the program that reads it`() async throws {
    let folder = try ImportFolder()
    try sqlite(
      folder, "CREATE VIEW v AS SELECT 1 AS id, usleep(0) AS n; CREATE VIEW w AS SELECT 1 AS id, abs(-2) AS n"
    )
    func arguments(_ view: String) -> [String] {
      [folder.file("a.db"), "--table", "t", "--from-table", view, "--id", "id"]
    }
    let failure = try await folder.failure(of: arguments("v"))
    #expect(failure.code == ExitStatus.corrupt && failure.what.contains("unsafe use"), "\(failure)")
    #expect(try await folder.run(arguments("w")).appended == 1)
  }

  @Test func `bad records do not go into the file that is read, whatever its path is`() async throws {
    let folder = try ImportFolder()
    let file = try folder.write("{\"id\":1}\nbad\n{\"id\":2}\n")
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: file)
    for path in [file, folder.file("./lines.jsonl"), folder.file("link")] {
      let failure = try await folder.failure(of: [file, "--table", "t", "--id", "id", "--skip-errors", path])
      #expect(failure.code == ExitStatus.usage, "\(path): \(failure)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8).count == 22)
  }

  @Test func `a dump of objects that ends inside a line deletes nothing`() async throws {
    let folder = try ImportFolder()
    let arguments = ["--format", "json", "--table", "t", "--id", "id"]
    let whole = "{\"id\":1}\n{\"id\":2}\n"
    try await folder.run([try folder.write(whole)] + arguments)
    let cut = try folder.write("{\"id\":1}")
    let failed = try ImportProcess.run(
      ImportProcess.command, ["import", folder.store, cut] + arguments + ["--sync", "-o", "json"])
    #expect(failed.code == ExitStatus.corrupt, "\(failed)")
    let synced = try ImportProcess.run(
      ImportProcess.command,
      ["import", folder.store, try folder.write("{\"id\":1}\n")] + arguments + ["--sync", "-o", "json"])
    #expect(synced.code == 0 && synced.output.contains("\"deleted\":1"), "\(synced)")
    for other in [["--events"], ["--mapping", "couchdb"], ["--format", "cloudevents"]] {
      let refused = try ImportProcess.run(
        ImportProcess.command, ["import", folder.store, cut, "--table", "t", "--id", "id", "--sync"] + other)
      #expect(refused.code == ExitStatus.usage, "\(other): \(refused)")
    }
  }

  @Test func `what follows compressed lines is not left out of a write`() throws {
    let folder = try ImportFolder()
    let line = Array("{\"put\":\"t/1\",\"data\":{}}\n".utf8)
    let file = try folder.write(ImportProcess.gzip(line) + Array("rest".utf8), to: "lines.gz")
    let outcome = try ImportProcess.run(
      ImportProcess.command, ["write", folder.store, file, "--create"])
    #expect(outcome.code == ExitStatus.corrupt && outcome.errors.contains("no gzip data"), "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test(.enabled(if: importHasSQLite, "sqlite3 is not installed"))
  func `a journal beside a file is not played back into the one that replaces it`() async throws {
    let folder = try ImportFolder()
    try await folder.run([try folder.write("{\"id\":1}\n"), "--table", "t", "--id", "id"])
    let export = ["export", folder.store, folder.file("t.db"), "--table", "t", "--force"]
    #expect(try ImportProcess.run(ImportProcess.command, export).code == 0)
    try folder.write("x", to: "t.db-journal")
    try FileManager.default.removeItem(atPath: folder.file("t.db"))
    let refused = try ImportProcess.run(ImportProcess.command, export)
    #expect(refused.code == ExitStatus.cannotCreate && refused.errors.contains("t.db-journal"), "\(refused)")
  }
}
