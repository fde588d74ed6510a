// Commands that write are ended by a signal: nothing unfinished stays, and the exit code says which signal it was.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@Suite(.serialized)
struct EndingSignalTests {
  private static let signals = [("INT", 130), ("TERM", 143), ("HUP", 129)]

  @Test func `a backup that a signal ends leaves no unfinished copy, and the next one completes it`()
    async throws
  {
    let folder = try ImportFolder()
    var random = SeededGenerator(seed: 7)
    let store = try EventStore.openBlocking(at: folder.store)
    for number in 0..<12 {
      let bytes = (0..<500_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
      try store.appendBlocking([NewEvent("n", in: "a/\(number)", .bytes(bytes))])
    }
    try store.closeBlocking()
    for (signal, code) in Self.signals {
      var ended = 0
      for _ in 0..<50 where ended == 0 {
        let outcome = try await LogreplayProcess.shell(
          """
          cd "$1"; rm -rf copy
          "$0" backup store copy >out 2>&1 & child=$!
          until set -- copy/log/*tmp; [ -e "$1" ] || ! kill -0 $child 2>/dev/null; do :; done
          kill -\(signal) $child 2>/dev/null || true
          code=0; wait $child || code=$?; echo "code $code"; ls copy/log
          """, folder.path)
        guard outcome.lines.first != "code 0" else { continue }
        ended += 1
        #expect(outcome.lines.first == "code \(code)", "\(outcome)")
        #expect(!outcome.output.contains(".tmp"), "\(signal): \(outcome)")
      }
      #expect(ended == 1, "no backup took long enough for \(signal)")
      let next = try await LogreplayProcess.shell(
        #"cd "$1"; "$0" backup store copy; "$0" verify copy; "$0" compare store copy"#, folder.path)
      #expect(next.code == 0, "\(next)")
    }
  }

  @Test func `an import that a signal ends before it appends leaves neither a temporary file nor a store`()
    async throws
  {
    for (signal, code) in Self.signals {
      let folder = try ImportFolder()
      let outcome = try await LogreplayProcess.shell(
        """
        cd "$1"; mkdir scratch; mkfifo pipe; export TMPDIR="$1/scratch"
        "$0" import store pipe --table t --id id --sync >out 2>&1 & child=$!
        exec 3>pipe; i=0
        while [ $i -lt 2000 ]; do echo "{\\"id\\":\\"$i\\",\\"text\\":\\"$1$1$1$1\\"}"; i=$((i + 1)); done >&3
        kill -\(signal) $child; code=0; wait $child || code=$?; echo "code $code"; ls scratch; ls
        """, folder.path)
      #expect(outcome.lines == ["code \(code)", "out", "pipe", "scratch"], "\(signal): \(outcome)")
    }
  }

  @Test func `an export that nohup started goes on after its terminal`() async throws {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...300))
    try await folder.importLines()
    let outcome = try await LogreplayProcess.shell(
      """
      cd "$1"; mkfifo pipe; printf '#!/bin/sh\\ncat pipe; exec /usr/bin/env -i /bin/gzip "$@"\\n' > gzip; chmod +x gzip
      trap '' HUP; PATH="$1:$PATH" "$0" export store out.jsonl.gz --events & child=$!
      until ls | grep -q 'out.jsonl.gz-.*tmp'; do :; done
      kill -HUP $child; : > pipe; wait $child; /bin/gzip -dc out.jsonl.gz | wc -l
      """, folder.path)
    #expect(outcome.code == 0 && outcome.lines.last == "302", "\(outcome)")
  }
}
