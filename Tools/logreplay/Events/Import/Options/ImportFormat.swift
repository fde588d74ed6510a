// The formats that `import` reads, and how the one of a file is recognised.

internal import ArgumentParser
package import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// A format of an input.
package enum ImportFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case jsonl, json, csv, tsv, sqlite, cloudevents, git, xes, ocel

  /// Whether it is a log of events, which has a form of its own for each of its fields.
  package var isOfProcesses: Bool { self == .xes || self == .ocel }

  /// The format that a file's name and kind say; nil if its beginning has to.
  package static func ofName(_ file: String) throws(CommandFailure) -> ImportFormat? {
    guard try kind(of: file) == .directory else { return ofEnding(file) }
    guard ImportGitRepository.isOne(file) else {
      throw CommandFailure(
        ExitStatus.notFound, "the folder is not a git repository", at: file,
        next: "give a file of JSON lines or a repository's folder")
    }
    return .git
  }

  private static func ofEnding(_ file: String) -> ImportFormat? {
    var name = file.lowercased()
    for ending in [".gz", ".lz4"] where name.hasSuffix(ending) { name.removeLast(ending.count) }
    if name.hasSuffix(".csv") { return .csv }
    if name.hasSuffix(".xes") { return .xes }
    if name.hasSuffix(".jsonocel") { return .ocel }
    return name.hasSuffix(".tsv") || name.hasSuffix(".tab") ? .tsv : nil
  }

  /// Nil for standard input, and where the system refuses to tell: opening the file then says why.
  private static func kind(of file: String) throws(CommandFailure) -> FileKind? {
    guard file != "-" else { return nil }
    let kind: FileKind?
    do throws(StoreError) { kind = try PosixFileSystem().kind(of: file) } catch { return nil }
    guard let kind else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no such file or folder to import", at: file, next: "check the path")
    }
    return kind
  }

  /// The format that the beginning of a text says: JSON that is no lines, or JSON lines.
  ///
  /// An array begins with a bracket that an object or another bracket follows, if only on the next line. A line that is
  /// a brace alone begins an object over several lines.
  static func ofBeginning(_ bytes: [UInt8]) -> ImportFormat {
    var rest = bytes[...]
    if rest.starts(with: ImportLineReader.byteOrderMark) { rest = rest.dropFirst(3) }
    rest = rest.drop { isSpace($0) }
    if rest.first == 0x1E { return .json }
    let head = Array(rest).withUnsafeBytes { ImportJSONReader.recordsHead($0) }
    if case .some = head { return .json }
    switch rest.first {
    case UInt8(ascii: "["):
      let line = rest.dropFirst().prefix { $0 != 0x0A }
      let next = line.first { !isSpace($0) }
      return next == nil || next == UInt8(ascii: "{") || next == UInt8(ascii: "]") ? .json : .jsonl
    case UInt8(ascii: "{"):
      return rest.dropFirst().prefix { $0 != 0x0A }.allSatisfy(isSpace) ? .json : .jsonl
    default: return .jsonl
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
