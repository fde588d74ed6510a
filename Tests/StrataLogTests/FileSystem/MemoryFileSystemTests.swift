@testable import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct MemoryFileSystemTests {
  @Test func `memory is freed with the last reference`() throws {
    weak var fileSystem: MemoryFileSystem?
    weak var content: MemoryContent?
    do {
      let memory = MemoryFileSystem()
      fileSystem = memory
      let node = MemoryFileSystem.Node()
      content = node.content.withLock { $0 }
      try memory.put("text", at: "/a")
    }
    #expect(fileSystem == nil)
    #expect(content == nil)
  }

  @Test func `an open file keeps its bytes and its file system`() throws {
    let file = try MemoryFileSystem().put("text", at: "/a")
    #expect(try file.text() == "text")
    #expect(try file.isStillAtItsPath())
  }

  @Test func `a removed file can still be read`() throws {
    let memory = MemoryFileSystem()
    let file = try memory.put("old", at: "/a")
    try memory.remove("/a")
    let new = try memory.put("new", at: "/a")
    #expect(try file.text() == "old")
    #expect(try new.text() == "new")
    #expect(try !file.isStillAtItsPath())
  }

  @Test func `wild offsets are errors and no allocations`() throws {
    let file = try MemoryFileSystem().put("", at: "/a")
    expectFailure(SystemErrorCode.fileTooLarge) { try file.write("x", at: .max) }
    expectFailure(SystemErrorCode.fileTooLarge) { try file.truncate(to: .max) }
    expectFailure(SystemErrorCode.invalidArgument) { try file.write("x", at: -1) }
    #expect(try file.bytes(at: .max - 1, count: 8) == [])
    #expect(try file.size() == 0)
  }

  @Test func `what was cut off does not come back`() throws {
    let file = try MemoryFileSystem().open("/a", .create)
    try file.write([UInt8](repeating: 7, count: 200_000), at: 0)
    try file.truncate(to: 70_000)
    try file.truncate(to: 200_000)
    let bytes = try file.bytes()
    #expect(bytes.prefix(70_000).allSatisfy { $0 == 7 })
    #expect(bytes.count == 200_000 && bytes.dropFirst(70_000).allSatisfy { $0 == 0 })
  }

  @Test func `many threads may use one file`() throws {
    let memory = MemoryFileSystem()
    let file = try memory.open("/a", .create)
    let threads = try (0..<4).map { index in
      try DedicatedThread(name: "writer") {
        for block in 0..<200 {
          let bytes = [UInt8](repeating: UInt8(index + 1), count: 1_000)
          try? file.write(bytes, at: Int64((block * 4 + index) * 1_000))
          _ = try? memory.open("/\(index)-\(block)", .create)
        }
      }
    }
    for thread in threads { thread.join() }
    let bytes = try file.bytes()
    #expect(bytes.count == 800_000)
    #expect(bytes.indices.allSatisfy { bytes[$0] == UInt8($0 / 1_000 % 4 + 1) })
    #expect(try memory.contents(ofDirectory: "/").count == 801)
  }
}
