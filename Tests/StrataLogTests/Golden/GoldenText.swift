// Whole stores as text, as Tests/Golden keeps them: hex lines with their offsets, and zeros left out.

import Foundation
import StrataLog
import StrataSimulation

/// A kept store: what it is, and its files by their paths relative to the store.
struct GoldenText {
  var what = ""
  var files: [String: [UInt8]] = [:]

  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Golden/1.0")

  /// The names of all kept stores, ascending.
  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".store") }.map { String($0.dropLast(6)) }.sorted()
  }

  /// The store that is kept under a name.
  init(named name: String) throws {
    let url = Self.folder.appendingPathComponent("\(name).store")
    try self.init(text: String(decoding: try Data(contentsOf: url), as: UTF8.self))
  }

  struct Malformed: Error { var line: Substring }

  init(text: String) throws {
    var path = ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("# ") {
        what += what.isEmpty ? line.dropFirst(2) : "\n" + line.dropFirst(2)
      } else if line.hasPrefix("FILE ") {
        let words = line.split(separator: " ")
        guard words.count == 3, let size = Int(words[2]) else { throw Malformed(line: line) }
        path = String(words[1])
        files[path] = Array(repeating: 0, count: size)
      } else {
        let words = line.split(separator: " ")
        let bytes = words.dropFirst().compactMap { UInt8($0, radix: 16) }
        guard let at = words.first.flatMap({ Int($0, radix: 16) }), bytes.count == words.count - 1,
          let count = files[path]?.count, at + bytes.count <= count
        else { throw Malformed(line: line) }
        files[path]?.replaceSubrange(at..<at + bytes.count, with: bytes)
      }
    }
  }

  /// The text of some files.
  static func text(_ what: String, _ files: [String: [UInt8]]) -> String {
    var lines = what.split(separator: "\n").map { "# \($0)" }
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      lines.append("FILE \(path) \(bytes.count)")
      for at in stride(from: 0, to: bytes.count, by: 16) {
        let part = bytes[at..<min(at + 16, bytes.count)]
        guard part.contains(where: { $0 != 0 }) else { continue }
        lines.append("\(hex(at, 8))  \(part.map { hex(Int($0), 2) }.joined(separator: " "))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func hex(_ value: Int, _ width: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension GoldenText {
  static let root = "/store"
  static let layout = StoreLayout(root: root)

  /// The files as a store on a disk.
  static func disk(_ files: [String: [UInt8]]) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    try disk.createDirectory(layout.log)
    for (path, bytes) in files { disk.add("\(root)/\(path)", bytes) }
    return disk
  }
}
