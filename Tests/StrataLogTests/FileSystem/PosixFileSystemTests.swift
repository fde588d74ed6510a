import CStrata
import Foundation
import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite(.serialized) struct PosixFileSystemTests {
  let posix = PosixFileSystem()
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `folders are created with those above them`() throws {
    try posix.createDirectory(folder.file("a/b/c/"))
    #expect(try posix.kind(of: folder.file("a/b/c")) == .directory)
    try posix.createDirectory(folder.file("a/b/c"))
    expectFailure(SystemErrorCode.notDirectory) {
      try posix.put("", at: folder.file("file"))
      try posix.createDirectory(folder.file("file/below"))
    }
    expectFailure(SystemErrorCode.alreadyExists) { try posix.createDirectory(folder.file("file")) }
  }

  @Test func `names come in the order of their bytes`() throws {
    let names = ["b", "a", "é", "Z", "00000000000000000010.seg", "00000000000000000009.seg", "e\u{301}x"]
    for name in names { try posix.put("", at: folder.file(name)) }
    let found = try posix.contents(ofDirectory: folder.path)
    #expect(found == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test func `failures carry the call the path and the number`() throws {
    let path = folder.file("nothing")
    let expected = StoreError.refused("open", path, code: SystemErrorCode.notFound)
    #expect(throws: expected) { try posix.open(path, .read) }
    #expect(expected.what == "cannot open: No such file or directory" && expected.place == path)
    #expect(try posix.kind(of: path) == nil)
    #expect(try posix.kind(of: "/dev/null") == .other)
    expectFailure(SystemErrorCode.isDirectory) { _ = try posix.open(folder.path, .read) }
    expectFailure(SystemErrorCode.isDirectory) { _ = try posix.open(folder.path, .create) }
  }

  // In a process of its own, because it gives up the rights of root.
  @Test func `fault 42: missing permissions are a typed failure`() async {
    await #expect(processExitsWith: .success) {
      let (posix, folder) = (PosixFileSystem(), try TemporaryFolder())
      let path = folder.file("closed")
      try posix.put("", at: path)
      try #require(chmod(path, 0) == 0 && chmod(folder.path, 0o555) == 0)
      if getuid() == 0 { try #require(seteuid(65_534) == 0) }
      let opening = Result { try posix.open(path, .read) }
      let creating = Result { try posix.createDirectory(folder.file("new")) }
      if getuid() == 0 { try #require(seteuid(0) == 0) }
      try #require(opening.failureCode == SystemErrorCode.accessDenied)
      try #require(creating.failureCode == SystemErrorCode.accessDenied)
    }
  }

  @Test func `a file without write permission can be read`() throws {
    let path = folder.file("read-only")
    try posix.put("text", at: path).close()
    #expect(chmod(path, 0o444) == 0)
    let file = try posix.open(path, .read)
    #expect(try file.text() == "text")
    #expect(try file.size() == 4)
    #expect(try file.isStillAtItsPath())
    file.dropCache()
    #expect(try file.tryLock(.shared))
    expectFailure(SystemErrorCode.badDescriptor) { try file.write("x") }
  }

  // In a process of its own, because the limit is the whole process's.
  @Test func `fault 42: running out of descriptors is a typed failure`() async {
    await #expect(processExitsWith: .success) {
      let (posix, folder) = (PosixFileSystem(), try TemporaryFolder())
      try posix.put("", at: folder.file("file")).close()
      var limit = rlimit()
      getrlimit(openFileLimit, &limit)
      let before = limit
      limit.rlim_cur = 1
      setrlimit(openFileLimit, &limit)
      let opening = Result { try posix.open(folder.file("file"), .read) }
      let listing = Result { try posix.contents(ofDirectory: folder.path) }
      limit = before
      setrlimit(openFileLimit, &limit)
      try #require(opening.failureCode == SystemErrorCode.tooManyOpenFiles)
      try #require(listing.failureCode == SystemErrorCode.tooManyOpenFiles)
    }
  }

  @Test func `a lock is held by the descriptor and not by the process`() throws {
    let path = folder.file("LOCK")
    let (first, second) = (try posix.open(path, .create), try posix.open(path, .create))
    #expect(try first.tryLock(.exclusive))
    #expect(try !second.tryLock(.exclusive))
    #expect(try !second.tryLock(.shared))
    // Closing another descriptor of the file takes nothing from the first: POSIX record locks would go.
    try posix.open(path, .read).close()
    #expect(try !second.tryLock(.shared))
    first.unlock()
    #expect(try second.tryLock(.shared))
    #expect(try first.tryLock(.shared))
    second.close()
    #expect(try first.tryLock(.exclusive))
  }

  @Test func `a replaced file is no longer at its path`() throws {
    let path = folder.file("LOCK")
    let file = try posix.open(path, .createNew)
    #expect(try file.isStillAtItsPath())
    try posix.remove(path)
    #expect(try !file.isStillAtItsPath())
    try posix.put("", at: path)
    #expect(try !file.isStillAtItsPath())
  }

  @Test func `a closed file refuses every call`() throws {
    let file = try posix.put("text", at: folder.file("file"))
    file.close()
    file.close()
    expectFailure(SystemErrorCode.badDescriptor) { _ = try file.bytes() }
    expectFailure(SystemErrorCode.badDescriptor) { try file.write("x") }
    expectFailure(SystemErrorCode.badDescriptor) { _ = try file.size() }
    expectFailure(SystemErrorCode.badDescriptor) { try file.sync() }
    expectFailure(SystemErrorCode.badDescriptor) { _ = try file.tryLock(.shared) }
    file.unlock()
    file.dropCache()
  }

  /// The system gives the number of a closed descriptor to the next file opened. A call that raced with the
  /// close would then read another file.
  @Test func `a close never gives a call another file`() throws {
    let mine = try #require(posix.put("mine", at: folder.file("mine")) as? PosixFile)
    try posix.put("other", at: folder.file("other")).close()
    try mine.withDescriptor("read") { (descriptor) throws(StoreError) in
      mine.close()
      expectFailure(SystemErrorCode.badDescriptor) { _ = try mine.text() }
      // One of these would get the number if it were free.
      let others = try (0..<8).map { _ throws(StoreError) in try posix.open(folder.file("other"), .read)
      }
      var byte: UInt8 = 0
      #expect(pread(descriptor, &byte, 1, 0) == 1 && byte == UInt8(ascii: "m"))
      for other in others { other.close() }
    }
  }

  @Test func `fault 28: a child process inherits no descriptor, and no lock with it`() throws {
    let file = try posix.put("", at: folder.file("LOCK"))
    let opened = try #require(file as? PosixFile)
    let number = try opened.withDescriptor("look at") { $0 }
    // The probe itself must be able to see a descriptor that is inherited.
    let inherited = dup(number)
    defer { close(inherited) }
    #expect(try childSees(descriptor: inherited))
    #expect(try !childSees(descriptor: number))
  }

  private func childSees(descriptor: Int32) throws -> Bool {
    let arguments = ["/bin/sh", "-c", "test -e /dev/fd/\(descriptor)"]
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var child = pid_t()
    try #require(posix_spawn(&child, "/bin/sh", nil, nil, &pointers, environ) == 0)
    var status: Int32 = 0
    try #require(waitpid(child, &status, 0) == child)
    return status == 0
  }

  @Test func `interrupted and partial calls are continued`() throws {
    var calls = 0
    let moved = try SystemCall.transferring("read", "file", count: 10) { done in
      calls += 1
      switch calls {
      case 1: return failed(SystemErrorCode.interrupted)
      case 2: return 3
      case 3: return failed(SystemErrorCode.tryAgain)
      case 4:
        #expect(done == 3)
        return 4
      default: return min(2, 10 - done)
      }
    }
    #expect(moved == 10)
    #expect(calls == 6)
  }

  @Test func `the end of the file ends a transfer`() throws {
    #expect(try SystemCall.transferring("read", "file", count: 10) { done in done < 6 ? 3 : 0 } == 6)
  }

  @Test func `a failure after a part is reported`() {
    expectFailure(SystemErrorCode.noSpace) {
      _ = try SystemCall.transferring("write", "file", count: 10) { done in
        done < 6 ? 3 : failed(SystemErrorCode.noSpace)
      }
    }
  }

  @Test func `a file that only ever says not now fails`() {
    var calls = 0
    expectFailure(SystemErrorCode.tryAgain) {
      _ = try SystemCall.repeating("read", "file") { () -> Int in
        calls += 1
        return failed(SystemErrorCode.tryAgain)
      }
    }
    #expect(calls == SystemCall.tryAgainCountMax + 1)
  }

  private func failed(_ code: Int32) -> Int {
    strata_set_errno(code)
    return -1
  }
}

extension Result {
  fileprivate var failureCode: Int32? {
    guard case .failure(let error) = self else { return nil }
    return (error as? StoreError)?.systemCode
  }
}

#if canImport(Glibc)
  private let openFileLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
  private let openFileLimit = RLIMIT_NOFILE
#endif
