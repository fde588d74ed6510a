// The kept stores that a writer of 1.0 made, made again: the same calls with the same clock and identity.

import StrataLog
import StrataSimulation

/// How a kept store was written.
struct GoldenRecipe: Sendable, CustomStringConvertible {
  var name: String
  var what: String
  var options: @Sendable (inout StoreOptions) -> Void = { _ in }
  var write: @Sendable (SimulatedDisk, StoreOptions) throws -> Void

  var description: String { name }

  static let storeID = StoreID(low: 0x8877_6655_4433_2211, high: 0x00FF_EEDD_CCBB_AA99)

  /// The files, by their paths relative to the store. LOCK names the process, so it is left out.
  func files() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.clock = .fixed
    options.headSyncInterval = .seconds(3_600)
    options.sealsInBackground = false
    self.options(&options)
    try write(disk, options)
    var files: [String: [UInt8]] = [:]
    for (path, bytes) in disk.evidence(of: GoldenStore.layout) {
      files[String(path.dropFirst(GoldenText.root.count + 1))] = bytes
    }
    return files
  }

  static func open(_ disk: SimulatedDisk, _ options: StoreOptions) throws -> Log {
    try Log.openWriter(disk, path: GoldenText.root, options: options, storeID: storeID)
  }

  /// An append whose bytes follow from its number and do not compress.
  static func append(_ number: Int, events: Int = 1, size: Int = 40, id: String? = nil, given: Int64? = nil)
    -> ModelAppend
  {
    var random = SeededGenerator(seed: UInt64(number))
    let made = (0..<events).map { index in
      ModelEvent(
        stream: ["ticket/\(number % 3)", "été/\(index)", "x"][(number + index) % 3], type: "t\(number % 2)",
        codec: index == 1 ? 9 : 3,
        metadata: number % 4 == 0 ? [0xA1, 0x61, 0x6B, 0x18, UInt8(24 + number)] : [],
        payload: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    return ModelAppend(made, id: id, given: given)
  }

  static func add(_ log: Log, _ appends: [ModelAppend]) throws {
    for append in appends { _ = try log.appendBlocking(append.draft()) }
  }
}

extension GoldenRecipe {
  static let all: [GoldenRecipe] = [
    GoldenRecipe(name: "empty", what: "A store that was created and closed.") { disk, options in
      try open(disk, options).close()
    },
    GoldenRecipe(
      name: "plain",
      what: "Appends of one and of several events, ids and given times, in blocks of their own.",
      options: { $0.durability = .paranoid }
    ) { disk, options in
      let log = try open(disk, options)
      try add(
        log,
        [
          append(1), append(2, events: 3), append(3, id: "import:3", given: 5), append(4, size: 0),
          append(5, id: "ü"),
        ])
      try log.close()
    },
    GoldenRecipe(
      name: "segments",
      what: "Three segments, the last of them active, left as a killed process leaves them.",
      options: { $0.segmentSizeTarget = 4_900 }
    ) { disk, options in
      let log = try open(disk, options)
      try add(log, (1...8).map { append($0, events: 1 + $0 % 2) })
      let head = disk.contents(GoldenText.layout.head)!
      try log.close()
      disk.replace(GoldenText.layout.head, head)
    },
    GoldenRecipe(
      name: "groups",
      what: "Two groups of several blocks each, written as buffered: the durable mark is behind.",
      options: {
        $0.durability = .buffered
        $0.blockSizeTarget = 120
      }
    ) { disk, options in
      let log = try open(disk, options)
      for numbers in [1...4, 5...8] {
        _ = try log.appendBlocking(numbers.map { append($0).draft() })
      }
      let head = disk.contents(GoldenText.layout.head)!
      try log.close()
      disk.replace(GoldenText.layout.head, head)
    },
    GoldenRecipe(
      name: "padded", what: "Blocks padded to pages.", options: { $0.padsGroupsToPages = true }
    ) { disk, options in
      let log = try open(disk, options)
      try add(log, (1...2).map { append($0) })
      try log.close()
    },
    GoldenRecipe(
      name: "recovered", what: "A torn tail was cut off and kept in quarantine/; a RECOVERY block says so."
    ) { disk, options in
      let log = try open(disk, options)
      try add(log, [append(1), append(2)])
      let head = disk.contents(GoldenText.layout.head)!
      try add(log, [append(3)])
      try log.close()
      disk.replace(GoldenText.layout.head, head)
      let segment = GoldenText.layout.segment(1)
      disk.replace(segment, Array(disk.contents(segment)!.dropLast(9)))
      let again = try open(disk, options)
      try add(again, [append(4), append(5)])
      try again.close()
    },
    GoldenRecipe(name: "compressed", what: "Blocks of LZ4 and one that does not compress.") { disk, options in
      let log = try open(disk, options)
      let text = Array(repeatElement(Array("Awaiting assignment. ".utf8), count: 30).joined())
      let event = ModelEvent(stream: "incident/1", type: "$put", codec: 3, payload: text)
      try add(log, [ModelAppend([event]), append(2), ModelAppend([event, event, event], id: "thrice")])
      try log.close()
    },
    GoldenRecipe(
      name: "sealed-by-the-writer", what: "Three segments of which the writer sealed the closed ones.",
      options: { $0.segmentSizeTarget = 4_900 }
    ) { disk, options in
      let log = try open(disk, options)
      try add(log, (1...8).map { append($0, events: 1 + $0 % 2) })
      _ = try log.seal()
      try log.close()
    },
  ]
}
