// `log --row` of a row whose events were erased.

import Foundation
import Strata
import StrataDocuments
import Testing

struct RowErasureTests {
  @Test(arguments: [["--stream", "incident/b"], ["--sequence", "2", "--sequence", "6"]])
  func `a row whose events were erased is told from one that never was`(what: [String]) async throws {
    let folder = try await SampleFolder.list()
    let erase = ["erase", folder.store] + what + ["--reason", "test", "--yes"]
    #expect(try await LogreplayProcess(erase).wait().code == 0)
    let erased = try await LogreplayProcess.run("log", folder.store, "--row", "incident/b")
    #expect(erased.code == 66 && erased.output.isEmpty, "\(erased)")
    #expect(
      erased.errors.contains("the events of the row incident/b were erased, by the order at seq 9")
        && erased.errors.contains("`logreplay show \(folder.store) 9` shows the order"), "\(erased.errors)")
    let never = try await LogreplayProcess.run("log", folder.store, "--row", "incident/x")
    #expect(never.code == 66 && never.errors.contains("there never was a row incident/x"), "\(never)")
    let other = try await LogreplayProcess.run("log", folder.store, "--row", "incident/a")
    #expect(other.code == 0 && other.lines.count == 2, "\(other)")
  }

  @Test func `the only row of a table is named as erased, though the table is gone with it`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append([
      NewEvent("$put", in: "t/only", ["n": 1]), NewEvent("opened", in: "t/other", .null),
    ])
    try await store.close()
    for stream in ["t/other", "t/only"] {
      let erase = ["erase", folder.store, "--stream", stream, "--reason", "test", "--yes"]
      #expect(try await LogreplayProcess(erase).wait().code == 0)
    }
    let only = try await LogreplayProcess.run("log", folder.store, "--row", "t/only")
    // The order for the other stream, and the note that it is done, come before.
    #expect(only.code == 66 && only.errors.contains("by the order at seq 5"), "\(only)")
    // Its erased event made no version of a row.
    let other = try await LogreplayProcess.run("log", folder.store, "--row", "t/other")
    #expect(other.code == 66 && other.errors.contains("there is no table 't'"), "\(other)")
  }
}
