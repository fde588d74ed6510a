// What an input is, by its first bytes: compressed data that is decompressed here, or something to be unpacked first.

internal import LogreplayShell

/// What the first bytes of an input say.
enum ImportBeginning: Equatable {
  case gzip
  case lz4
  /// A database file of SQLite.
  case sqlite
  /// Something that is no text: what it is, and what makes text of it. `FILE` is the input.
  case foreign(what: String, command: String)

  private static let marks: [(bytes: [UInt8], beginning: ImportBeginning)] = [
    ([0x1F, 0x8B], .gzip),
    ([0x04, 0x22, 0x4D, 0x18], .lz4),
    (Array("SQLite format 3\0".utf8), .sqlite),
    ([0x02, 0x21, 0x4C, 0x18], .foreign(what: "lz4 data in the legacy format", command: "lz4 -dc FILE")),
    (Array("BZh".utf8), .foreign(what: "bzip2 data", command: "bzip2 -dc FILE")),
    ([0x28, 0xB5, 0x2F, 0xFD], .foreign(what: "zstd data", command: "zstd -dc FILE")),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .foreign(what: "xz data", command: "xz -dc FILE")),
    ([0x50, 0x4B, 0x03, 0x04], .foreign(what: "a zip archive", command: "unzip -p FILE")),
    (
      Array("# v2 git bundle\n".utf8),
      .foreign(what: "a git bundle", command: "git clone --mirror FILE FOLDER")
    ),
    (
      Array("# v3 git bundle\n".utf8),
      .foreign(what: "a git bundle", command: "git clone --mirror FILE FOLDER")
    ),
    (Array("PAR1".utf8), .foreign(what: "a Parquet file", command: "duckdb -csv -c \"FROM 'FILE'\"")),
    ([0xFF, 0xFE], .foreign(what: "text in UTF-16", command: "iconv -f UTF-16 -t UTF-8 FILE")),
    ([0xFE, 0xFF], .foreign(what: "text in UTF-16", command: "iconv -f UTF-16 -t UTF-8 FILE")),
  ]

  /// The length of the longest mark.
  static let lengthMax = 16

  /// What the first bytes of an input say; nil if nothing.
  static func of(_ bytes: some Collection<UInt8>) -> ImportBeginning? {
    marks.first { bytes.starts(with: $0.bytes) }?.beginning
  }

  /// Whether more bytes than these could say something.
  static func isUndecided(_ bytes: some Collection<UInt8>) -> Bool {
    marks.contains { $0.bytes.count > bytes.count && $0.bytes.starts(with: bytes) }
  }

  /// Throws if an input has to be unpacked by another program first.
  func check(_ name: String) throws(CommandFailure) {
    guard case .foreign(let what, let command) = self else { return }
    let isBundle = command.hasPrefix("git")
    let file = name == "standard input" ? "FILE" : name
    let unpacked = command.replacing("FILE", with: Self.shellWord(file))
    throw CommandFailure(
      ExitStatus.usage, "this is \(what)", at: name,
      next: isBundle
        ? "make a repository of it with \(unpacked), and import that folder"
        : "unpack it, and import what comes out: \(unpacked) | logreplay import STORE - --source NAME …")
  }

  /// A file's name as one word of a shell.
  private static func shellWord(_ name: String) -> String {
    let isPlain = name.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte &- UInt8(ascii: "0") <= 9
        || "/._-".utf8.contains(byte) || byte >= 0x80
    }
    return isPlain && !name.isEmpty ? name : "'\(name.replacingBytes("'", with: "'\\''"))'"
  }
}
