// Measures the tree of the tables with several page sizes and shapes of entries, in processor time.

internal import Foundation
internal import StrataTables
internal import StrataSimulation

extension Workload {
  static func tree(_ bench: Bench) async throws {
    let count = bench.corpus.count
    for shape in TreeShape.all {
      print("\n  \(shape.name), ns per operation unless stated otherwise")
      let columns = [1024, 2048, 4096, 8192].map { size -> [(String, Double)] in
        var bench = TreeBench(shape, count: count, pageSize: size)
        return bench.run()
      }
      printTable(columns, heads: ["1 KiB", "2 KiB", "4 KiB", "8 KiB"])
      print("  arrival order: fill, ns")
      for (name, fill, nanoseconds) in arrivals(shape, count: count / 2) {
        report("  " + name, String(format: "%.0f %%, %.0f ns", fill * 100, nanoseconds))
      }
    }
    print("\n  for comparison, with the keys of the first shape")
    limits(TreeShape.all[0], count: count)
  }

  private static func printTable(_ columns: [[(String, Double)]], heads: [String]) {
    func line(_ name: String, _ cells: [String]) {
      let padded = cells.map { String(repeating: " ", count: max(0, 9 - $0.count)) + $0 }.joined()
      print("  " + name.padding(toLength: 34, withPad: " ", startingAt: 0) + padded)
    }
    line("", heads)
    for row in columns[0].indices {
      line(columns[0][row].0, columns.map { String(format: $0[row].1 < 10 ? "%.1f" : "%.0f", $0[row].1) })
    }
  }

  /// Inserts keys in the order in which events arrive, and returns how full the pages of 4 KiB become.
  private static func arrivals(_ shape: TreeShape, count: Int) -> [(String, Double, Double)] {
    var result: [(String, Double, Double)] = []
    for order in shape.arrivalOrders {
      var tree = Tree(pageSize: 4096)
      var key = TreeKey()
      let value = TreeBench.value(shape, 1)
      let time = ProcessorTime.of {
        for index in 0..<count {
          key.fill(shape, index, time: order == "newest first" ? UInt64(count - index) : UInt64(index))
          key.lend { key in value.withUnsafeBytes { _ = tree.set(key, $0) } }
        }
      }
      result.append((order, tree.statistics.fill, time / Double(count) * 1e9))
    }
    return result
  }

  /// Measures what a program without the tree could use: a dictionary and a sorted array.
  private static func limits(_ shape: TreeShape, count: Int) {
    var dictionary: [[UInt8]: UInt64] = [:]
    var random = SeededGenerator(seed: 1)
    var keys: [[UInt8]] = []
    var key = TreeKey()
    for index in 0..<count {
      key.fill(shape, index, time: random.next())
      keys.append(key.lend { Array($0) })
    }
    let insert = ProcessorTime.of { for index in 0..<count { dictionary[keys[index]] = UInt64(index) } }
    let order = (0..<count).map { _ in Int.random(in: 0..<count, using: &random) }
    var found: UInt64 = 0
    let lookup = ProcessorTime.of { for index in order { found &+= dictionary[keys[index]] ?? 0 } }
    report("Dictionary, insert", String(format: "%.0f ns", insert / Double(count) * 1e9))
    report("Dictionary, lookup", String(format: "%.0f ns (%d)", lookup / Double(count) * 1e9, found & 1))
    let few = min(count, 200_000)
    var sorted: [UInt64] = []
    sorted.reserveCapacity(few)
    let array = ProcessorTime.of {
      for _ in 0..<few {
        let number = random.next()
        var low = 0
        var high = sorted.count
        while low < high {
          let middle = (low + high) / 2
          if sorted[middle] < number { low = middle + 1 } else { high = middle }
        }
        sorted.insert(number, at: low)
      }
    }
    report("sorted array, insert up to \(few)", String(format: "%.0f ns", array / Double(few) * 1e9))
  }
}

/// The shape of a tree's keys and values.
struct TreeShape {
  var name: String
  /// Whether keys are section, time and id; otherwise the id alone.
  var isView: Bool
  var valueLength: Int

  var arrivalOrders: [String] { isView ? ["newest first", "oldest first"] : ["ascending"] }

  static let all = [
    TreeShape(name: "view: section, time, id -> 4 bytes", isView: true, valueLength: 4),
    TreeShape(name: "table: id -> document of 174 bytes", isView: false, valueLength: 174),
    TreeShape(name: "table: id -> position of 8 bytes", isView: false, valueLength: 8),
  ]
}

/// A buffer for one key: a section of about 10 bytes, one of 200 sections, 8 bytes of time, an id of 11 bytes.
struct TreeKey {
  private var bytes = [UInt8](repeating: 0, count: 32)
  private var count = 0

  mutating func fill(_ shape: TreeShape, _ index: Int, time: UInt64) {
    bytes.withUnsafeMutableBytes { bytes in
      var end = 0
      if shape.isView {
        let section = index &* 7919 % 200
        end = 9 + (section & 1)
        for place in 0..<end { bytes[place] = UInt8(ascii: "s") }
        Self.decimal(section, into: bytes, 4..<7)
        bytes.storeBytes(of: (UInt64.max - time).bigEndian, toByteOffset: end, as: UInt64.self)
        end += 8
      }
      bytes[end] = UInt8(ascii: "1")
      bytes[end + 1] = UInt8(ascii: "-")
      Self.decimal(index, into: bytes, end + 2..<end + 11)
      count = end + 11
    }
  }

  private static func decimal(_ number: Int, into bytes: UnsafeMutableRawBufferPointer, _ range: Range<Int>) {
    var left = number
    for place in range.reversed() {
      bytes[place] = UInt8(ascii: "0") + UInt8(left % 10)
      left /= 10
    }
  }

  func lend<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }
}
