// Calls of a carrier that no command makes, against a server: races, long lists, large files, and files with conditions.

#if Bucket
  import StrataBase
  import StrataBucket
  import StrataEvents
  import StrataReplica

  /// Prints a line for each check. Ends with 1 after the first that fails, and with 69 if the server is refused.
  ///
  ///     strata-bucketcheck URL [prove | bench FOLDER]
  @main struct BucketCheck {
    let url: String

    static func main() async {
      let arguments = CommandLine.arguments.dropFirst()
      guard let url = arguments.first else { end(64, "usage: strata-bucketcheck URL [prove | bench FOLDER]") }
      let check = BucketCheck(url: url)
      if arguments.contains("bench"), let folder = arguments.last {
        do { return try await check.bench(in: folder) } catch { end(1, "\(error)") }
      }
      do throws(CarrierError) {
        let carrier = try check.carrier()
        try carrier.prove()
        print("proved: \(carrier.name)")
        guard !arguments.contains("prove") else { return }
        try check.race()
        try check.pages()
        try check.files()
        try check.large()
      } catch {
        end(error.reason == .unfit ? 69 : 1, "\(error.reason.rawValue): \(error)")
      }
    }

    private static func end(_ code: Int32, _ text: String) -> Never {
      print(text)
      exitProcess(code)
    }

    private func carrier(_ part: String = "check") throws(CarrierError) -> BucketCarrier {
      let halves = url.split(separator: "?", maxSplits: 1)
      return try BucketCarrier(url: "\(halves[0])/\(part)" + (halves.count > 1 ? "?\(halves[1])" : ""))
    }

    private func expect(_ holds: Bool, _ what: String) {
      if !holds { Self.end(1, "not so: \(what)") }
    }

    /// Of eight machines that put an object under a number at the same time, one wins, and what is there is its own.
    private func race() throws(CarrierError) {
      let carriers = try (0..<8).map { _ throws(CarrierError) in try carrier("race") }
      for number in UInt64(1)...20 {
        let winners = Lock<[Int]>([])
        Parallel(threads: .system, threadCountMax: 8).forEach(below: 8) { writer in
          let object = CarrierObject(number: number, bytes: Self.bytes(of: writer, number))
          if carriers[writer].put([object]) == .stored { winners.withLock { $0.append(writer) } }
        }
        let found = winners.withLock { $0 }
        expect(found.count == 1, "one of eight has won the number \(number), and not \(found.count)")
        expect(
          try carriers[0].object(number)?.bytes == Self.bytes(of: found[0], number),
          "the winner's bytes are there")
      }
      print("20 races of eight writers had one winner each")
    }

    private static func bytes(of writer: Int, _ number: UInt64) -> [UInt8] {
      Array(repeating: UInt8(writer), count: 1000 + Int(number))
    }

    /// Lists of more than two pages, and with a hole.
    private func pages() throws(CarrierError) {
      let carrier = try carrier("pages")
      let count: UInt64 = 2100
      let answer = carrier.put(
        (1...count).map { CarrierObject(number: $0, bytes: [UInt8(truncatingIfNeeded: $0)]) })
      expect(answer == .stored, "\(count) objects are stored, and not \(answer)")
      expect(try carrier.extent() == CarrierExtent(of: 1...count), "the list has them all")
      expect(try carrier.fileNames(in: "log").count == Int(count), "their names are in the list")
      expect(carrier.put([CarrierObject(number: 7, bytes: [])]) == .stopped(count: 0, .taken), "7 is taken")
      let afterGap = carrier.put([CarrierObject(number: count + 2, bytes: [])])
      guard case .stopped(count: 0, .refused) = afterGap else {
        Self.end(1, "a gap was not refused: \(afterGap)")
      }
      try carrier.removeFiles(["00000000000000001500"], in: "log")
      expect(try carrier.extent().missing == [1500...1500], "the one that was removed is missing")
      expect(try carrier.object(1500) == nil, "and is not there")
      expect(try !carrier.hasObject(1500), "and is not seen")
      print("\(count) objects were listed on three pages")
    }

    private func files() throws(CarrierError) {
      let carrier = try carrier("files")
      expect(carrier.createFile("manifest/1", [1, 2, 3]) == .stored, "a file is created")
      expect(carrier.createFile("manifest/1", [4]) == .stopped(count: 0, .taken), "and then taken")
      var buffer = [UInt8](repeating: 0, count: 2)
      func read(_ name: String, at offset: Int64) throws(CarrierError) -> [UInt8]? {
        try buffer.lendMutableBytes { bytes throws(CarrierError) in
          try carrier.readFile(name, at: offset, into: bytes).map { Array(bytes[..<$0]) }
        }
      }
      expect(try read("manifest/1", at: 0) == [1, 2], "its beginning is read")
      expect(try read("manifest/1", at: 2) == [3], "its end is read")
      expect(try read("manifest/1", at: 3) == [], "after its end is nothing")
      expect(try read("manifest/2", at: 0) == nil, "another one is not there")
      try carrier.replaceFile("manifest/1", [])
      expect(try read("manifest/1", at: 0) == [], "an empty one is read")
      try carrier.setNote(CarrierNote(member: "a-1", bytes: [7]))
      expect(try carrier.notes() == [CarrierNote(member: "a-1", bytes: [7])], "a note is read")
      try carrier.removeNote(of: "a-1")
      try carrier.removeNote(of: "a-1")
      expect(try carrier.notes().isEmpty, "and removed")
      expect(carrier.put([CarrierObject(number: 1, bytes: [1])]) == .stored, "an object is stored")
      guard let object = try carrier.object(1) else { Self.end(1, "the object is not there") }
      try carrier.replaceObject(CarrierObject(number: 1, bytes: [2], version: object.version))
      do throws(CarrierError) {
        try carrier.replaceObject(CarrierObject(number: 1, bytes: [3], version: object.version))
        Self.end(1, "an object was replaced by a version that it no longer has")
      } catch {
        expect(error.reason == .unreachable, "a stale version is no other error than that: \(error)")
      }
      expect(try carrier.object(1)?.bytes == [2], "the object is the replaced one")
      print("files are created, replaced, read in parts and removed")
    }

    /// A file of three parts, and one that is written in one request.
    private func large() throws(CarrierError) {
      let carrier = try carrier("large")
      for (name, size) in [("segments/1", 20 << 20 | 3), ("segments/2", 8 << 20), ("segments/3", 0)] {
        try carrier.replaceFile(name, size: Int64(size)) { buffer, offset in
          for index in buffer.indices { buffer[index] = Self.byte(offset + Int64(index)) }
        }
        var buffer = [UInt8](repeating: 0, count: 3 << 20)
        var offset: Int64 = 0
        while true {
          let count = try buffer.lendMutableBytes { bytes throws(CarrierError) in
            try carrier.readFile(name, at: offset, into: bytes)
          }
          guard let count else { Self.end(1, "\(name) is not there") }
          expect(
            (0..<count).allSatisfy { buffer[$0] == Self.byte(offset + Int64($0)) }, "\(name) is as written")
          offset += Int64(count)
          if count < buffer.count { break }
        }
        expect(offset == Int64(size), "\(name) has \(size) bytes, and not \(offset)")
      }
      print("large files are written in parts and read back")
    }

    // MARK: Figures

    /// Appends that wait until they are in the bucket, beside puts of objects of the same size by the same client.
    private func bench(in folder: String) async throws {
      let store = try await EventStore.open(at: "\(folder)/store")
      try await store.ship(to: try carrier("bench-store"))
      let raw = try carrier("bench-raw")
      var (puts, appends): ([Int64], [Int64]) = ([], [])
      for number in 1...200 {
        puts.append(try Self.time { try Self.put(number, 450, to: raw) })
        let begin = MonotonicTime.now()
        let receipt = try await store.append([Self.event(number)])
        try await receipt.replicated(within: .seconds(60))
        appends.append(begin.elapsedNanoseconds)
      }
      for (name, times) in [("objects of 450 bytes, put", puts), ("appends that wait", appends)] {
        let sorted = times.sorted()
        print("\(name): p50 \(sorted[100] / 1000) us, p99 \(sorted[197] / 1000) us")
      }
      try await store.close()
    }

    private static func event(_ number: Int) -> NewEvent {
      NewEvent(
        "measured", in: StreamName("task/\(number % 100)"),
        ["number": .int(Int64(number)), "text": .string(String(repeating: "\(number &* 7919) ", count: 24))])
    }

    private static func put(_ number: Int, _ size: Int, to carrier: BucketCarrier) throws {
      let object = CarrierObject(number: UInt64(number), bytes: [UInt8](repeating: 7, count: size))
      guard carrier.put([object]) == .stored else { end(1, "\(number) was not put") }
    }

    private static func time(_ body: () throws -> Void) rethrows -> Int64 {
      let begin = MonotonicTime.now()
      try body()
      return begin.elapsedNanoseconds
    }

    private static func byte(_ offset: Int64) -> UInt8 {
      UInt8(truncatingIfNeeded: offset ^ offset >> 8 ^ offset >> 16)
    }
  }

  extension MonotonicTime {
    fileprivate var elapsedNanoseconds: Int64 { MonotonicTime.now().nanoseconds - nanoseconds }
  }

  #if canImport(Darwin)
    import Darwin
    private func exitProcess(_ code: Int32) -> Never { exit(code) }
  #else
    import Glibc
    private func exitProcess(_ code: Int32) -> Never {
      fflush(nil)
      exit(code)
    }
  #endif
#else
  @main struct BucketCheck {
    static func main() { print("built without buckets; build it with --traits Bucket") }
  }
#endif
