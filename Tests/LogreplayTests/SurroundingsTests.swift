// What the command is started in: a folder with any name, closed descriptors, outputs that take nothing.

import Foundation
import Strata
import Testing

struct SurroundingsTests {
  // Names that are not UTF-8, /proc and /dev/full.
  #if os(Linux)
    @Test func `a store is where it was asked for, whatever bytes the working folder's path has`()
      async throws
    {
      let folder = try SampleFolder()
      let outcome = try await LogreplayProcess.shell(
        """
        inner=$(printf 'dir\\377')
        mkdir "$1/$inner"
        cd "$1/$inner"
        echo '{"id":"1"}' >lines.jsonl
        "$0" import new lines.jsonl --table t --id id
        "$0" seal ./new
        "$0" at new --table t --fields '$id' -o csv
        ls
        ls "$1" | wc -l
        """, folder.path)
      #expect(outcome.code == 0, "\(outcome)")
      let last = outcome.lines.suffix(3).map { $0.filter { $0 != " " } }
      #expect(last == ["lines.jsonl", "new", "1"], "\(outcome)")
    }

    @Test func `the standard descriptors are no file of a store, also where they are closed`() async throws {
      let folder = try await SampleFolder.sample()
      let outcome = try await LogreplayProcess.shell(
        """
        "$0" follow "$1" -o jsonl --cursor-file "$2" <&- >&- 2>&- &
        until [ -s "$2" ]; do sleep 0.01; done
        readlink /proc/$!/fd/0 /proc/$!/fd/1 /proc/$!/fd/2
        kill $!
        status=0
        "$0" log "$1" >&- || status=$?
        echo $status
        """, folder.store, folder.file("cursor"))
      #expect(outcome.lines == ["/dev/null", "/dev/null", "/dev/null", "74"], "\(outcome)")
    }

    @Test func `an import whose report cannot be written says so`() async throws {
      let folder = try SampleFolder()
      try #"{"id":"1"}"#.write(toFile: folder.file("lines"), atomically: false, encoding: .utf8)
      let outcome = try await LogreplayProcess.shell(
        """
        status=0
        "$0" import "$1" "$2" --table t --id id -o json >/dev/full || status=$?
        echo $status
        """, folder.store, folder.file("lines"))
      #expect(outcome.lines == ["74"] && outcome.errors.contains("standard output"), "\(outcome)")
    }
  #endif

  @Test(arguments: [
    "at", "backup", "bisect", "checkpoint", "diff", "dump", "erase", "follow", "import", "info", "keep",
    "log",
    "recover", "replay", "seal", "show", "verify",
  ])
  func `an empty path of a store is a usage error`(command: String) async throws {
    let more: [String: [String]] = [
      "backup": ["target"], "bisect": ["--where", "n == 1"], "diff": ["1", "2"], "recover": ["target"],
      "erase": ["--stream", "a/1", "--reason", "b", "--yes"],
      "import": ["-", "--table", "t", "--id", "id"], "keep": ["name"], "show": ["1"],
    ]
    let outcome = try await LogreplayProcess([command, ""] + (more[command] ?? [])).wait()
    #expect(outcome.code == 64 && outcome.errors.contains("path is empty"), "\(outcome)")
  }
}
