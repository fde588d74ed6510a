// What records are sorted by.

/// A key that a sort writes to its file as two numbers and bytes.
protocol ImportSortable: Comparable {
  var words: (UInt64, UInt64) { get }
  /// Empty where the numbers are all of it.
  var name: [UInt8] { get }

  init(words: (UInt64, UInt64), name: [UInt8])
}

/// The order of a sort: by time, and at one time by the line's number.
struct ImportSortKey: ImportSortable {
  var time: Int64
  var line: UInt64

  static func < (a: Self, b: Self) -> Bool { a.time == b.time ? a.line < b.line : a.time < b.time }
}

extension ImportSortKey {
  var words: (UInt64, UInt64) { (UInt64(bitPattern: time), line) }
  var name: [UInt8] { [] }

  init(words: (UInt64, UInt64), name: [UInt8]) {
    self.init(time: Int64(bitPattern: words.0), line: words.1)
  }
}

/// The order of rows in a table: by the bytes of their ids. Records of one id are in the order of the input.
struct ImportRowKey: ImportSortable {
  let name: [UInt8]
  /// The record's number.
  let number: UInt64
  /// The first eight bytes of the id, of which most comparisons need no more.
  private let beginning: UInt64

  init(id: [UInt8], number: UInt64) {
    name = id
    self.number = number
    var beginning: UInt64 = 0
    for index in 0..<8 { beginning = beginning << 8 | UInt64(index < id.count ? id[index] : 0) }
    self.beginning = beginning
  }

  init(words: (UInt64, UInt64), name: [UInt8]) { self.init(id: name, number: words.0) }

  var words: (UInt64, UInt64) { (number, 0) }

  static func < (a: Self, b: Self) -> Bool {
    if a.beginning != b.beginning { return a.beginning < b.beginning }
    let order = b.name.withUnsafeBytes { a.order($0) }
    return order == 0 ? a.number < b.number : order < 0
  }

  /// How the id compares with another one, byte by byte: less than 0 if it comes before, 0 if they are the same.
  func order(_ other: UnsafeRawBufferPointer) -> Int {
    name.withUnsafeBytes { mine in
      let count = min(mine.count, other.count)
      for index in 0..<count where mine[index] != other[index] {
        return mine[index] < other[index] ? -1 : 1
      }
      return mine.count - other.count
    }
  }

  static func == (a: Self, b: Self) -> Bool { a.number == b.number && a.name == b.name }
}
