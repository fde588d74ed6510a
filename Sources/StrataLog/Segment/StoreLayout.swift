// The paths of a store's parts.

internal import StrataBase

/// The paths of a store's files.
package struct StoreLayout: Sendable {
  package let root: String

  package init(root: String) {
    self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
  }

  /// Refuses strings that are not paths and would lead elsewhere: an empty one to the root of the machine, one with a
  /// zero byte to whatever its part before that byte names.
  func checkRoot() throws(StoreError) {
    guard !root.isEmpty else { throw .invalid(what: "the path of the store is empty") }
    guard !root.utf8.contains(0) else {
      throw .invalid(what: "\(root.debugDescription) contains a zero byte, which no path may")
    }
  }

  package static let headName = "HEAD"
  package static let lockName = "LOCK"
  package static let logName = "log"
  package static let derivedName = "derived"
  /// The folder of the states of projections, relative to the store's.
  package static let statesPath = "derived/state"
  /// The folder of the histories of projections, relative to the store's.
  package static let historiesPath = "derived/history"
  package static let quarantineName = "quarantine"
  package static let replicaName = "REPLICA"
  package static let stateFile = "STATE"
  package static let temporarySuffix = ".tmp"
  package static let pagesSuffix = ".pages"
  package static let manifestFile = "MANIFEST"
  package static let runSuffix = ".run"
  package static let tailSuffix = ".tail"

  package var head: String { "\(root)/\(Self.headName)" }
  package var lock: String { "\(root)/\(Self.lockName)" }
  package var replica: String { "\(root)/\(Self.replicaName)" }
  package var log: String { "\(root)/\(Self.logName)" }
  package var derived: String { "\(root)/\(Self.derivedName)" }
  package var quarantine: String { "\(root)/\(Self.quarantineName)" }

  /// The folder of the states of projections: one folder for each.
  package var states: String { "\(root)/\(Self.statesPath)" }

  /// The folder of the histories of projections: one folder for each.
  package var histories: String { "\(root)/\(Self.historiesPath)" }

  /// Every kind of data that projections derive from the log: a folder with one folder for each projection. Their files go
  /// before an erasure is done, and when an append needs their room.
  var derivedKinds: [String] { [states, histories] }

  package func segment(_ name: SegmentName) -> String { "\(log)/\(name.fileName)" }

  /// The folder that holds the store's folder.
  package var parent: String {
    guard let slash = root.lastIndex(of: "/") else { return "." }
    return slash == root.startIndex ? "/" : String(root[..<slash])
  }

  /// The derived index of a closed segment.
  package func index(_ name: SegmentName) -> String { "\(derived)/\(name.digits).idx" }

  /// Refuses a store in which a link has the name of one of the store's files or folders: a writer would write and
  /// remove outside of the store. The store's own path may be a link.
  func checkLinks(_ fileSystem: any FileSystem) throws(StoreError) {
    for path in [lock, head, replica, log, derived, quarantine] {
      if try fileSystem.isLink(path) {
        throw .linked(path: path)
      }
    }
  }
}

extension SegmentName {
  /// The path relative to the store, for messages and findings.
  package var path: String { "\(StoreLayout.logName)/\(fileName)" }
}

extension StoreFinding {
  /// Whether the file can be made again from the log, so that nothing is lost with it.
  package var isDerived: Bool { file.hasPrefix("\(StoreLayout.derivedName)/") }
}
