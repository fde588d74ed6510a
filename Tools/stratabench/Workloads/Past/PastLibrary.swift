// What each library is asked about the past.

/// A store or a database that was filled with the events of a shape, and is open for reading.
///
/// A point is the number of events up to and including it. Answers are numbers, so that those of two libraries can be
/// compared: ids of rows, counts, indexes.
protocol PastLibrary: Sendable {
  static var name: String { get }
  /// The files of this library in the folder of a shape.
  static func path(in folder: String) -> String

  init(_ folder: String) async throws

  /// The ids of items at offsets in the whole list.
  func ids(_ offsets: Range<Int>, at point: Int) async throws -> [Int]
  /// The first rows of the list.
  func firstRows(_ count: Int, at point: Int) async throws -> [PastRow]
  /// The number of items of each section.
  func counts(at point: Int) async throws -> [Int]
  /// The offset of an item in the whole list.
  func rank(of id: Int, at point: Int) async throws -> Int?
  /// The ids of the rows that the events between two points changed, ascending.
  func changedIDs(from start: Int, to end: Int) async throws -> [Int]
  /// The ids of the items that changed, ascending. Their indexes at both points are found too if the library has them.
  func changes(from start: Int, to end: Int) async throws -> [Int]
  /// For each changed item, ascending by id, its id and the number of fields that differ. Both rows are read.
  func changedRows(from start: Int, to end: Int) async throws -> [Int]
  /// The first ids of a list that neither an index nor the store keeps: all rows, by their notes.
  func firstIDsOfAnotherList(_ count: Int, at point: Int) async throws -> [Int]
  /// Shows the first rows of the list at one point after another, and returns how long each took, and the last ids.
  func scrub(through points: [Int], window: Int) async throws -> (times: [Double], ids: [Int])

  func close() async throws
}

extension PastLibrary {
  /// How many fields of two versions of a row differ.
  static func differences(_ a: PastRow?, _ b: PastRow?) -> Int {
    guard let a, let b else { return 5 }
    return [a.product != b.product, a.time != b.time, a.note != b.note, a.text != b.text].count { $0 }
  }
}

extension ContinuousClock.Instant {
  /// The seconds since then.
  var secondsSince: Double { (ContinuousClock.now - self) / .seconds(1) }
}
