// What is asked of both libraries.

/// A store on disk whose rows are a list by product, newest first.
protocol SavedIncidents: Sendable {
  static var library: String { get }

  /// The store at a path, which is made if there is none. Appends and transactions are synced to disk.
  init(_ path: String, access: SavedAccess) async throws

  func put(_ rows: [Incident]) async throws

  /// Called once after the rows were written.
  func keepList() async throws

  /// The first rows of the first section.
  func firstPage() async throws -> [Incident]

  /// The number of rows of each section.
  func sectionCounts() async throws -> [Int]

  /// Reads rows of one version by their ids, one after another.
  func read(_ ids: [Int]) async throws -> Int

  /// Changes a row, and reads the first page that includes the change.
  func changeAndShow(_ row: Incident) async throws -> [Incident]

  func close() async throws
}

enum SavedAccess { case read, write }

/// The number of rows of a page.
let pageLength = 20
/// The bytes of pages that each library may keep in memory: Strata's default.
let pageCacheSize = 64 << 20
