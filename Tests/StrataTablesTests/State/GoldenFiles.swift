// The files of a store as text, which is kept beside the code: hex lines with their offsets, and zeros left out.

import Foundation
internal import StrataLog
internal import StrataSimulation
internal import Testing

/// One file of `Tests/Golden`.
struct GoldenFiles {
  static let root = "/store"
  private let what: String
  private let url: URL

  /// - Parameter what: what the store holds, in a sentence.
  init(_ path: String, _ what: String) {
    self.what = what
    url = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Golden/\(path)")
  }

  /// The files of a closed store on a disk.
  static func files(of disk: SimulatedDisk) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in disk.paths where !path.hasSuffix("/LOCK") {
      files[String(path.dropFirst(root.count + 1))] = disk.contents(path)
    }
    return files
  }

  func keep(_ files: [String: [UInt8]]) throws {
    func hex(_ value: Int, _ width: Int) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    var lines = ["# \(what)"]
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      lines.append("FILE \(path) \(bytes.count)")
      for at in stride(from: 0, to: bytes.count, by: 16) {
        let part = bytes[at..<min(at + 16, bytes.count)]
        guard part.contains(where: { $0 != 0 }) else { continue }
        lines.append("\(hex(at, 8))  \(part.map { hex(Int($0), 2) }.joined(separator: " "))")
      }
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: url)
  }

  func kept() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    var path = ""
    for line in String(decoding: try Data(contentsOf: url), as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words[0] == "FILE" {
        path = String(words[1])
        files[path] = Array(repeating: 0, count: try #require(Int(words[2])))
      } else if words[0] != "#" {
        let at = try #require(Int(words[0], radix: 16))
        let bytes = words.dropFirst().compactMap { UInt8($0, radix: 16) }
        files[path]?.replaceSubrange(at..<at + bytes.count, with: bytes)
      }
    }
    return files
  }

  static func disk(_ files: [String: [UInt8]]) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    try disk.createDirectory("\(root)/log")
    for (path, bytes) in files { disk.add("\(root)/\(path)", bytes) }
    return disk
  }
}
