// What LOCK says about its holder: shown where it is well-formed, and never trusted.

import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

struct LockTextTests {
  private static let time = "2026-11-20T18:17:16Z"

  /// The holder that a refused open names, if LOCK holds these bytes.
  private static func holder(_ bytes: [UInt8]) throws -> String? {
    let memory = MemoryFileSystem()
    try memory.createDirectory("/store")
    let lock = try memory.open("/store/LOCK", .create)
    try #require(try lock.tryLock(.exclusive))
    try bytes.withUnsafeBytes { try lock.write($0, at: 0) }
    var options = StoreOptions()
    options.lockTimeout = .zero
    do throws(StoreError) {
      try Log.openWriter(memory, path: "/store", options: options).close()
    } catch {
      guard case .locked("/store", let holder) = error else { throw error }
      return holder
    }
    Issue.record("there are two writers")
    return nil
  }

  @Test(
    arguments: [
      ("17\n\n\(time)\n", "process 17 since \(time)"),
      ("17\n9 device 1 file 2\n\(time)", "process 17 since \(time)"),
      // As earlier writers left it.
      ("17\n", "process 17"), ("17\n9 device 1 file 2\n", "process 17"), ("", nil),
      ("17\n\nsometime\n", "process 17"), ("17\n\n2026-11-20T18:17:16+01:00\n", "process 17"),
      ("17\n\n\u{1B}[31m-11-20T18:17:16Z\n", "process 17"), ("17\n\n٢٠٢٦-11-20T18:17:16Z\n", "process 17"),
      ("x\n\n\(time)\n", nil), ("-17\n\n\(time)\n", nil), ("+17\n", nil), ("0\n", nil), ("17 \n", nil),
      ("१७\n", nil),
      ("99999999999999999999\n", nil), (String(repeating: "1", count: 100_000), nil),
    ] as [(String, String?)])
  func `a refused open names the holder as far as LOCK is well-formed`(text: String, holder: String?) throws {
    #expect(try Self.holder(Array(text.utf8)) == holder)
  }

  @Test func `whatever LOCK holds, the error is that the store is locked, and its text is short`() throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let parts = ["\n", "17", Self.time, "\u{0}", "\r", "-", " ", "\u{FEFF}", "9 device 1 file 2"]
    for _ in 0..<2_000 {
      var bytes: [UInt8] = []
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        if Int.random(in: 0..<4, using: &random) == 0 {
          bytes += (0..<Int.random(in: 0..<300, using: &random)).map { _ in
            .random(in: 0...255, using: &random)
          }
        } else {
          bytes += parts.randomElement(using: &random)!.utf8
        }
      }
      guard let holder = try Self.holder(bytes) else { continue }
      let words = holder.split(separator: " ")
      try #require(words.count == 2 || words.count == 4, "SEED=\(seed)")
      #expect(words[0] == "process" && Int32(words[1]).map { $0 > 0 } == true, "SEED=\(seed)")
      #expect(words.count == 2 || (words[2] == "since" && words[3].utf8.count == 20), "SEED=\(seed)")
    }
  }

  @Test func `what a writer leaves in LOCK is read by the next one`() throws {
    let folder = try TemporaryFolder()
    let (posix, path) = (PosixFileSystem(), folder.file("store"))
    func lines() throws -> [Substring] {
      let bytes = try posix.open("\(path)/LOCK", .read).bytes()
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
    let before = systemTimeText()
    let log = try Log.openWriter(posix, path: path, options: StoreOptions())
    let open = try lines()
    try log.close()
    #expect(open.count == 4 && open[0] == "\(processID())" && open[1].contains(" device ") && open[3] == "")
    #expect(String(open[2]) >= before && String(open[2]) <= systemTimeText() && open[2].utf8.count == 20)
    // The next writer has the next epoch, in the same file.
    try Log.openWriter(posix, path: path, options: StoreOptions()).close()
    let (first, second) = (open[1].split(separator: " "), try lines()[1].split(separator: " "))
    #expect(UInt64(second[0]) == UInt64(first[0]).map { $0 + 1 } && second.dropFirst() == first.dropFirst())
  }
}
