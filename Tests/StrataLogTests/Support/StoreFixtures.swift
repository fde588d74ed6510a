// What the suites of the log set up and look at alike.

import StrataBase
import StrataLog
import StrataSimulation

extension StoreOptions {
  /// Of a store to which nothing happens because time went by, or in the background.
  static func still(
    _ durability: Durability = .synced, segmentSize: Int = 1 << 20, blockSize: Int = 64 << 10
  ) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = durability
    options.segmentSizeTarget = segmentSize
    options.blockSizeTarget = blockSize
    options.headSyncInterval = .seconds(3_600)
    options.sealsInBackground = false
    return options
  }
}

extension SimulatedDisk {
  /// Every file of a store that an open may not change: all but LOCK and what is derived.
  func evidence(of layout: StoreLayout) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in paths where path != layout.lock && !path.hasPrefix(layout.derived) {
      files[path] = contents(path)
    }
    return files
  }
}

extension Log {
  /// The sequences of all events whose content is gone.
  func erasedSequences() throws -> Set<UInt64> {
    var found: Set<UInt64> = []
    var cursor = cursor(after: 0)
    while let block = try cursor.next() {
      try block.forEachEvent { event, _, sequence in
        if event.kind == EventKind.erased { found.insert(sequence) }
      }
    }
    return found
  }
}
