// Stores with a secret in their log, and in what is derived from it for two projections.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataSimulation

enum SecretStore {
  static let secret = Array("secret-4711".utf8)
  static let erasure = Erasure(streams: ["person/9", "counter/9", "b/secret"], because: "asked to")

  /// The paths of the files that hold the secret.
  static func holders(_ disk: SimulatedDisk, in folder: String = "/") -> [String] {
    disk.paths.filter { path in
      path.hasPrefix(folder) && disk.contents(path).map { $0.contains(bytes: secret) } ?? false
    }
  }

  /// Appends events, in the midst of which is the secret.
  ///
  /// - Parameter events: other events that are appended between them.
  static func fill(_ store: EventStore, _ events: StateEvents? = nil) throws {
    var events = events
    for number in 0..<24 {
      try store.put("\(number % 4)", in: "person", ["n": .int(Int64(number)), "t": .string("t\(number)")])
      if number % 3 == 0 { try events?.append(to: store) }
      try store.appendAny([NewEvent("counted", in: "counter/\(number % 3)", .int(Int64(number)))])
      guard number == 11 else { continue }
      let text = DocumentValue.string(String(decoding: secret, as: UTF8.self))
      for (table, id) in [("person", "9"), ("b", "secret")] {
        try store.put(id, in: table, ["t": text, "n": 3])
      }
      try store.appendAny([NewEvent("counted", in: "counter/9", text)])
    }
  }
}

extension DerivedKind {
  func secretOptions() -> StoreOptions {
    var options = options()
    options.segmentSizeTarget = 2_000
    return options
  }

  func openSecret(_ disk: SimulatedDisk, _ access: EventStore.Access = .readWrite) throws -> EventStore {
    try open(disk, access, secretOptions())
  }

  /// A disk with a closed store that has the secret.
  ///
  /// - Parameter isWritten: whether it is in derived files, too.
  func secretDisk(_ events: StateEvents? = nil, isWritten: Bool = true) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var options = secretOptions()
    options.closeFoldingMax = .zero
    let store = try open(disk, .readWrite, options)
    try SecretStore.fill(store, events)
    if isWritten { try write(store) }
    try store.closeBlocking()
    return disk
  }
}
