// What a folder promises, at every call and every power cut.

internal import StrataBase
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct FolderCarrierTests {
  private static func bytes(_ number: UInt64) -> [UInt8] { Array("object \(number)".utf8) }

  private static func object(_ number: UInt64) -> CarrierObject {
    CarrierObject(number: number, bytes: bytes(number))
  }

  @Test func `what is called put survives a power cut after any call, and no number without those before it`()
  {
    for seed in UInt64(0)..<40 {
      for cut in 0..<40 {
        let disk = SimulatedDisk()
        var stored: UInt64 = 0
        // A sync of the folder fails, and another process goes on after what it finds there.
        disk.onOperation {
          $0.operation == .syncDirectory && $0.number % 7 == Int(seed % 7)
            ? .fail(SystemErrorCode.inputOutput) : .proceed
        }
        for number in UInt64(1)...3 {
          let carrier = FolderCarrier(disk, path: "/carrier")
          switch carrier.put([Self.object(number)]) {
          case .stored: stored = number
          case .stopped:
            disk.onOperation(nil)
            // Its own put, of which nothing is known.
            if (try? carrier.confirm(Self.object(number))) != nil, (try? carrier.object(number)) != nil {
              stored = number
            }
          }
        }
        disk.onOperation(nil)
        let end = disk.operationCount + cut
        disk.onOperation { $0.number >= end ? .cutPower() : .proceed }
        _ = FolderCarrier(disk, path: "/carrier").put([Self.object(stored + 1)])
        disk.cutPower()
        let after = disk.crash(seed: seed, model: CrashModel.allCases[Int(seed % 4)])
        let carrier = FolderCarrier(after, path: "/carrier")
        for number in UInt64(1)..<5 {
          let found = (try? carrier.object(number))?.bytes
          #expect(
            number > stored || found == Self.bytes(number), "\(number) of \(stored), cut \(cut), seed \(seed)"
          )
          #expect(found == nil || found == Self.bytes(number), "a part of \(number)")
          if number > 1, found != nil {
            #expect((try? carrier.object(number - 1)) != nil, "a hole before \(number)")
          }
        }
      }
    }
  }

  @Test func `a put whose sync failed is no hole once another process puts the next`() {
    for seed in UInt64(0)..<60 {
      for cut in 0..<12 {
        let disk = SimulatedDisk()
        #expect(FolderCarrier(disk, path: "/carrier").put([Self.object(1)]) == .stored)
        let isRenamed = Lock(false)
        disk.onOperation { call in
          if call.operation == .rename { isRenamed.withLock { $0 = true } }
          let fails = call.operation == .syncDirectory && isRenamed.withLock { $0 }
          return fails ? .fail(SystemErrorCode.inputOutput) : .proceed
        }
        _ = FolderCarrier(disk, path: "/carrier").put([Self.object(2)])
        let end = disk.operationCount + cut
        disk.onOperation { $0.number >= end ? .cutPower() : .proceed }
        _ = FolderCarrier(disk, path: "/carrier").put([Self.object(3)])
        disk.cutPower()
        let after = FolderCarrier(disk.crash(seed: seed, model: .reorder), path: "/carrier")
        if cut == 0 { #expect((try? FolderCarrier(disk.clone(), path: "/carrier").object(2)) != nil) }
        let (second, third) = (try? after.object(2), try? after.object(3))
        #expect(third == nil || second != nil, "cut \(cut), seed \(seed)")
      }
    }
  }

  @Test func `a folder of files whose name could not be synced is synced by the next call`() throws {
    for isNew in [false, true] {
      let disk = SimulatedDisk()
      var carrier = FolderCarrier(disk, path: "/carrier")
      #expect(carrier.put([Self.object(1)]) == .stored)
      disk.onOperation { $0.operation == .syncDirectory ? .fail(SystemErrorCode.inputOutput) : .proceed }
      #expect(carrier.createFile("manifest/1", [1]) != .stored)
      disk.onOperation { _ in .proceed }
      if isNew { carrier = FolderCarrier(disk, path: "/carrier") }
      #expect(carrier.createFile("manifest/1", [1]) == .stored)
      disk.cutPower()
      let after = FolderCarrier(disk.crash(seed: 1, model: .dropAll), path: "/carrier")
      #expect(try after.fileNames(in: "manifest") == ["1"])
    }
  }

  @Test func `of two puts of one number one wins, and the folder keeps it`() {
    let disk = SimulatedDisk()
    let (a, b) = (FolderCarrier(disk, path: "/carrier"), FolderCarrier(disk, path: "/carrier"))
    #expect(a.put([Self.object(1)]) == .stored)
    #expect(b.put([CarrierObject(number: 1, bytes: [9])]) == .stopped(count: 0, .taken))
    #expect((try? b.object(1)?.bytes) == Self.bytes(1))
    // Between the look and the rename of one, the other puts its own.
    let isFirst = Lock(true)
    disk.onOperation { [disk] call in
      if call.operation == .rename,
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      {
        disk.add("/carrier/log/00000000000000000002", [7])
      }
      return .proceed
    }
    #expect(a.put([Self.object(2)]) == .stopped(count: 0, .taken))
    disk.onOperation(nil)
    #expect((try? a.object(2)?.bytes) == [7])
    #expect(!disk.paths.contains { $0.hasSuffix(StoreLayout.temporarySuffix) })
  }

  @Test func `a folder whose renames replace is refused by name, and its parent has to be there`() {
    let disk = SimulatedDisk()
    let error = #expect(throws: CarrierError.self) { try FolderCarrier(disk, path: "/none/carrier").prove() }
    #expect(error?.reason == .refused)
    #expect(throws: Never.self) { try FolderCarrier(disk, path: "/carrier").prove() }
    let lying = #expect(throws: CarrierError.self) {
      try FolderCarrier(ReplacingFileSystem(disk: disk), path: "/carrier").prove()
    }
    #expect(lying?.reason == .unfit && lying?.what.contains("/carrier") == true)
    #expect(!disk.paths.contains { $0.hasSuffix(StoreLayout.temporarySuffix) })
  }
}

/// A file system whose renames replace what has the new name, whatever they were asked for.
private struct ReplacingFileSystem: FileSystem {
  let disk: SimulatedDisk

  func renameNew(_ path: String, to newPath: String) throws(StoreError) { try disk.rename(path, to: newPath) }

  func createDirectory(_ path: String) throws(StoreError) { try disk.createDirectory(path) }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try disk.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try disk.kind(of: path) }
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File { try disk.open(path, mode) }
  func rename(_ path: String, to newPath: String) throws(StoreError) { try disk.rename(path, to: newPath) }
  func remove(_ path: String) throws(StoreError) { try disk.remove(path) }
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError) {
    try disk.removeFiles(in: folder, where: isMeant)
  }
  func isLink(_ path: String) throws(StoreError) -> Bool { try disk.isLink(path) }
  func freshToken() -> UInt64 { disk.freshToken() }
  func timeText() -> String { disk.timeText() }
  func absolutePath(_ path: String) -> String { disk.absolutePath(path) }
  func syncDirectory(_ path: String) throws(StoreError) { try disk.syncDirectory(path) }
  func watch(_ folder: String) -> (any FolderWatch)? { nil }
  func freeSize(at path: String) -> UInt64? { nil }
  func identity(of path: String) throws(StoreError) -> String? { try disk.identity(of: path) }
}
