// Notices of writes in a folder: none is missed, and a wait can be ended.

import StrataBase
import StrataLog
import Testing

#if os(Linux)
  @Suite struct FolderWatchTests {
    private let folder: TemporaryFolder
    private let fileSystem = PosixFileSystem()
    private let watch: any FolderWatch

    init() throws {
      folder = try TemporaryFolder()
      watch = try #require(fileSystem.watch(folder.path))
    }

    private func next() -> FolderNotice { watch.wait(timeout: .seconds(10)) }

    @Test func `nothing is told where nothing happened, and the wait ends in time`() {
      #expect(watch.wait(timeout: .zero) == .none)
      #expect(watch.wait(timeout: .milliseconds(1)) == .none)
    }

    @Test func `every way in which a file gets other content is told`() throws {
      let file = try fileSystem.open(folder.file("HEAD"), .create)
      #expect(next() == .changed, "created")
      try file.write("one")
      #expect(next() == .changed, "written")
      try file.write("two")
      #expect(next() == .changed, "written again")
      try file.truncate(to: 0)
      #expect(next() == .changed, "cut")
      try fileSystem.put("new", at: folder.file("HEAD.tmp"))
      #expect(next() == .changed, "another one created")
      #expect(watch.wait(timeout: .zero) == .none, "all notices are taken at once")
      try fileSystem.rename(folder.file("HEAD.tmp"), to: folder.file("HEAD"))
      #expect(next() == .changed, "replaced")
      try fileSystem.open(folder.file("HEAD"), .readWrite).write("in place of the first")
      #expect(next() == .changed, "the one that replaced it written")
    }

    @Test func `what came before the wait is told, once for all of it`() throws {
      let file = try fileSystem.put("a", at: folder.file("HEAD"))
      for number in 0..<100 { try file.write("\(number)", at: Int64(number * 8)) }
      #expect(next() == .changed)
      #expect(watch.wait(timeout: .zero) == .none)
    }

    @Test func `reading, locking and looking tell nothing`() throws {
      try fileSystem.put("a", at: folder.file("LOCK"))
      #expect(next() == .changed)
      let file = try fileSystem.open(folder.file("LOCK"), .read)
      #expect(try file.tryLock(.shared))
      _ = try file.text()
      file.unlock()
      file.close()
      #expect(watch.wait(timeout: .zero) == .none)
    }

    @Test func `another thread ends the wait, and it stays ended`() throws {
      let waiting = try DedicatedThread(name: "closer") { [watch] in
        pauseThread(nanoseconds: 5_000_000)
        watch.close()
      }
      #expect(watch.wait(timeout: .seconds(60)) == .closed)
      waiting.join()
      #expect(watch.wait(timeout: .seconds(60)) == .closed)
    }

    @Test func `a folder that is gone is told as the end of all notices, and one that is absent has none`()
      throws
    {
      let path = folder.file("store")
      #expect(fileSystem.watch(path) == nil)
      try fileSystem.createDirectory(path)
      let watch = try #require(fileSystem.watch(path))
      #expect(removeFolder(path))
      #expect(watch.wait(timeout: .seconds(10)) == .failed)
    }

    @Test func `a file system in memory tells nothing`() throws {
      let memory = MemoryFileSystem()
      try memory.createDirectory("/store")
      #expect(memory.watch("/store") == nil)
    }
  }
#endif
