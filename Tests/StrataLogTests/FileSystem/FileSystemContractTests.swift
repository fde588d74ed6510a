import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct FileSystemContractTests {
  @Test func `memory and simulation answer as the machine does`() throws {
    let seed = SeededGenerator.testSeed()
    for index in 0..<12 {
      let folder = try TemporaryFolder()
      let (memory, simulation) = (MemoryFileSystem(), SimulatedDisk())
      try memory.createDirectory("/store")
      try simulation.createDirectory("/store")
      func record(_ fileSystem: any FileSystem, _ root: String) -> [String] {
        FileSystemContract.record(of: fileSystem, root: root, seed: seed &+ UInt64(index), callCount: 300)
      }
      let expected = record(PosixFileSystem(), folder.path)
      for (name, found) in [
        ("memory", record(memory, "/store")), ("simulation", record(simulation, "/store")),
      ] {
        let difference = zip(expected, found).enumerated().first { $1.0 != $1.1 }
        if let (line, (posix, other)) = difference {
          let before = expected[max(0, line - 12)..<line].joined(separator: "\n")
          Issue.record("walk \(index), \(name) differs after\n\(before)\nposix: \(posix)\n\(name): \(other)")
          return
        }
        #expect(found.count == expected.count)
      }
    }
  }

  /// Otherwise the test above would compare failures with failures.
  @Test func `the walk meets successes and failures`() {
    let disk = MemoryFileSystem()
    let lines = (0..<20).flatMap {
      FileSystemContract.record(of: disk, root: "/", seed: UInt64($0), callCount: 300)
    }
    for ending in [
      ": opened", ": renamed", ": removed", ": written", ": taken", ": already held", ": true",
      ": false",
      ": synced",
    ] {
      #expect(lines.contains { $0.hasSuffix(ending) }, "no call ended with '\(ending)'")
    }
    for code in [
      SystemErrorCode.notFound, SystemErrorCode.alreadyExists, SystemErrorCode.badDescriptor,
      SystemErrorCode.isDirectory, SystemErrorCode.notDirectory,
    ] {
      #expect(lines.contains { $0.hasSuffix("(\(code))") }, "no call failed with \(code)")
    }
  }

  @Test func `two paths have the same identity exactly where they lead to the same place`() throws {
    let folder = try TemporaryFolder()
    for (fileSystem, root) in [
      (PosixFileSystem(), folder.path), (MemoryFileSystem(), "/store"), (SimulatedDisk(), "/store"),
    ] as [(any FileSystem, String)] {
      try fileSystem.createDirectory("\(root)/log")
      try fileSystem.open("\(root)/log/a", .create).close()
      try fileSystem.open("\(root)/log/b", .create).close()
      func identity(_ path: String) throws -> String? { try fileSystem.identity(of: "\(root)/\(path)") }
      #expect(try identity("log/a") == identity("log/../log//a"))
      #expect(try identity("log") == identity("./log/"))
      #expect(try Set([identity(""), identity("log"), identity("log/a"), identity("log/b")]).count == 4)
      #expect(try identity("log/c") == nil)
    }
    let (one, other) = (MemoryFileSystem(), MemoryFileSystem())
    #expect(try one.identity(of: "/") != other.identity(of: "/"))
    withExtendedLifetime((one, other)) {}
  }
}
