// A program that is asked to end while it writes, as a server is at each deployment.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct StoppedProcessTests {
  /// Stops, each at another moment.
  private static let stopCount = 20

  @Test
  func `a program that closes its store at SIGTERM ends at once, has lost nothing, and its consumer goes on`()
    async throws
  {
    let path = NSTemporaryDirectory() + "strata-stop-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var random = StrataSimulation.SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    let threads = IOThreads(name: "stop", threadCountMax: 2)
    var acknowledged: [UInt64] = []
    for stop in 0..<Self.stopCount {
      let (process, pipe) = try CrashWriter.start([path, "serve", "4"])
      let pause = Int.random(in: 0...60_000_000, using: &random)
      let lines = await threads.run { () -> [String] in
        var data = Data()
        var isAsked = false
        while case let part = pipe.fileHandleForReading.availableData, !part.isEmpty {
          data += part
          guard !isAsked else { continue }
          isAsked = true
          pauseThread(nanoseconds: pause)
          kill(process.processIdentifier, SIGTERM)
        }
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      }
      try #require(
        process.terminationReason == .exit && process.terminationStatus == 0,
        "stop \(stop), after \(pause) ns: it ended with \(process.terminationStatus)")
      try #require(lines.first == "open" && lines.last == "ended", "stop \(stop): \(lines.suffix(2))")
      let findings = try await threads.result { try PosixFileSystem().findings(inStore: path) }.get()
      try #require(findings.isEmpty, "stop \(stop): \(findings)")
      acknowledged += lines.dropFirst().dropLast().compactMap { UInt64($0) }
    }
    try #require(acknowledged.count > Self.stopCount, "the program appended nothing")

    let store = try await EventStore.open(at: path)
    var options = ConsumerOptions()
    options.selection = .category("task")
    try await store.consumer("counter", options).run(until: .caughtUp) { append, batch in
      for event in append.events { try batch.append(NewEvent("seen", in: "seen/\(event.sequence)", .null)) }
    }
    var (made, seen): (Set<UInt64>, [UInt64]) = ([], [])
    for try await append in store.feed(until: .caughtUp) {
      for event in append.events {
        if event.type == "made" {
          made.insert(event.sequence)
        } else {
          seen += UInt64(event.stream.id).map { [$0] } ?? []
        }
      }
    }
    #expect(Set(acknowledged).isSubset(of: made), "an append that was acknowledged is gone")
    #expect(seen.count == made.count && Set(seen) == made, "an append has no effect, or two")
    try await store.close()
  }
}
