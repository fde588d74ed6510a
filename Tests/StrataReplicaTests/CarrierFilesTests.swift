// The files of a carrier beside its objects, compared with a dictionary.

internal import StrataBase
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct CarrierFilesTests {
  @Test(.timeLimit(.minutes(2)), arguments: [false, true])
  func `files are created once, replaced, read in parts, listed and removed`(isMemory: Bool) throws {
    let disk = SimulatedDisk()
    try disk.createDirectory("/place")
    let carrier: any CarrierFiles = isMemory ? MemoryCarrier() : FolderCarrier(disk, path: "/place/copy")
    var random = SeededGenerator(seed: 55)
    var model: [String: [String: [UInt8]]] = [:]
    for _ in 0..<3_000 {
      let folder = ["segments", "manifest"].randomElement(using: &random)!
      let file = "f\(Int.random(in: 0..<6, using: &random))"
      let name = "\(folder)/\(file)"
      let bytes = (0..<Int.random(in: 0..<50, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let exists = model[folder]?[file] != nil
        #expect(carrier.createFile(name, bytes) == (exists ? .stopped(count: 0, .taken) : .stored))
        if !exists { model[folder, default: [:]][file] = bytes }
      case 1:
        try carrier.replaceFile(name, bytes)
        model[folder, default: [:]][file] = bytes
      case 2:
        let size = Int.random(in: 0..<3_000_000, using: &random) / Int.random(in: 1...100_000, using: &random)
        let large = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try carrier.replaceFile(name, size: Int64(size)) { buffer, offset throws(CarrierError) in
          buffer.copyBytes(from: large[Int(offset)..<Int(offset) + buffer.count])
        }
        model[folder, default: [:]][file] = large
      case 3:
        let offset = Int.random(in: 0..<60, using: &random)
        var buffer = [UInt8](repeating: 0, count: Int.random(in: 1..<40, using: &random))
        let count = try buffer.lendMutableBytes { bytes throws(CarrierError) in
          try carrier.readFile(name, at: Int64(offset), into: bytes)
        }
        let expected = model[folder]?[file].map { Array($0.dropFirst(offset).prefix(buffer.count)) }
        #expect(count == expected?.count)
        if let expected { #expect(Array(buffer[..<expected.count]) == expected) }
      case 4:
        try carrier.removeFiles([file, "none"], in: folder)
        model[folder]?[file] = nil
      default:
        #expect(try carrier.fileNames(in: folder).sorted() == (model[folder]?.keys.sorted() ?? []))
      }
    }
    // What a power cut leaves is what calls have promised.
    guard !isMemory else { return }
    let after = FolderCarrier(disk.crash(seed: 1, model: .dropAll), path: "/place/copy")
    for (folder, files) in model {
      #expect(try after.fileNames(in: folder).sorted() == files.keys.sorted())
      for (file, bytes) in files {
        var buffer = [UInt8](repeating: 0, count: bytes.count + 1)
        let count = try buffer.lendMutableBytes { buffer throws(CarrierError) in
          try after.readFile("\(folder)/\(file)", at: 0, into: buffer)
        }
        #expect(count == bytes.count && Array(buffer.prefix(bytes.count)) == bytes)
      }
    }
  }

  @Test func `a large file whose source fails leaves what was there`() throws {
    let disk = SimulatedDisk()
    let carrier = FolderCarrier(disk, path: "/copy")
    try carrier.replaceFile("segments/a", [1, 2])
    let silence = CarrierError(.unreachable, what: "no", next: "again")
    #expect(throws: silence) {
      try carrier.replaceFile("segments/a", size: 3_000_000) { _, offset throws(CarrierError) in
        if offset > 0 { throw silence }
      }
    }
    #expect(try disk.contents(ofDirectory: "/copy") == ["segments"])
    var buffer = [UInt8](repeating: 0, count: 4)
    let count = try buffer.lendMutableBytes { buffer throws(CarrierError) in
      try carrier.readFile("segments/a", at: 0, into: buffer)
    }
    #expect(count == 2 && buffer == [1, 2, 0, 0])
  }
}
