// Files that the system does not let be opened: said as such, at whichever open, and never as damage.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ProtectedDataTests {
  private static let options = StoreOptions.still(segmentSize: 1)

  private static func store() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: "/store", options: options)
    for number in 0..<4 {
      _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "\(number)")]).draft())
    }
    try log.close()
    return disk
  }

  /// Makes each open that there is fail, one in a run.
  private func forEachOpen(_ way: Way, code: Int32) throws -> [StoreError] {
    var errors: [StoreError] = []
    let whole = try Self.store()
    let count = Lock(0)
    let sound = whole.clone()
    sound.onOperation { call in
      if call.operation == .open { count.withLock { $0 += 1 } }
      return .proceed
    }
    try Self.go(way, sound)
    for number in 1...count.withLock({ $0 }) {
      let disk = whole.clone()
      let evidence = disk.paths.filter { !$0.contains("/derived/") && !$0.hasSuffix("/LOCK") }
        .map { disk.contents($0) }
      disk.inject(SimulatedFailure(of: [.open], number: number, code: code))
      do throws(StoreError) { try Self.go(way, disk) } catch {
        errors.append(error)
        if number < 5 {
          #expect(
            disk.paths.filter { !$0.contains("/derived/") && !$0.hasSuffix("/LOCK") }.map {
              disk.contents($0)
            }
              == evidence)
        }
      }
      disk.clearFailures()
      let reader = try Log.openReader(disk, path: "/store", options: Self.options)
      #expect(reader.mark.sequence == 4)
      try reader.close()
    }
    return errors
  }

  enum Way: CaseIterable {
    case openReader, read, openWriter, verify
  }

  private static func go(_ way: Way, _ disk: SimulatedDisk) throws(StoreError) {
    switch way {
    case .openReader: try Log.openReader(disk, path: "/store", options: options).close()
    case .read:
      let log = try Log.openReader(disk, path: "/store", options: options)
      _ = try log.modelAppends()
      try log.close()
    case .openWriter: try Log.openWriter(disk, path: "/store", options: options).close()
    case .verify:
      var verifier = LogVerifier(disk, path: "/store")
      guard try verifier.run().isOK else { throw .closed }
    }
  }

  @Test(arguments: Way.allCases)
  func `a protected file is that, with its path, at every open there is`(way: Way) throws {
    let errors = try forEachOpen(way, code: SystemErrorCode.notPermitted)
    #expect(errors.count >= 4)
    for error in errors {
      #expect(error.reason == .protected && error.place.hasPrefix("/store/"), "\(error)")
    }
  }

  @Test(arguments: [SystemErrorCode.accessDenied, SystemErrorCode.tooManyOpenFiles], Way.allCases)
  func `a refused open is the system's own error, with its path and number`(code: Int32, way: Way) throws {
    let errors = try forEachOpen(way, code: code)
    #expect(errors.count >= 4)
    for error in errors {
      #expect(error.reason == .system && error.systemCode == code, "\(error)")
      #expect(error.what.hasPrefix("cannot open: ") && error.place.hasPrefix("/store/"), "\(error)")
    }
  }

  @Test func `a store on a medium that can only be read is read, and refuses a writer`() throws {
    let disk = try Self.store()
    disk.onOperation {
      $0.operation.isChange && $0.operation != .open ? .fail(SystemErrorCode.readOnly) : .proceed
    }
    let reader = try Log.openReader(disk, path: "/store", options: Self.options)
    #expect(try reader.modelAppends().count == 4)
    #expect(throws: StoreError.self) { try Log.openWriter(disk, path: "/store", options: Self.options) }
    try reader.close()
  }
}
