// A carrier that keeps files by names: folders and buckets.

internal import StrataBase

/// A carrier whose objects are files with names, and which keeps others beside them: what members say of themselves, whole
/// segments, and manifests. Names are relative, with `/` between their parts; a part has letters, digits, hyphens and
/// dots.
public protocol CarrierFiles: Carrier {
  /// Creates a file if nothing has its name, which the carrier decides, as durably as it can. The answer is that of a put
  /// of one object.
  func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer

  /// Creates a file or replaces what has its name. A reader sees the one or the other, never a part.
  func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError)

  /// Creates or replaces a file that need not fit into memory.
  ///
  /// - Parameters:
  ///   - size: its length in bytes.
  ///   - read: fills the whole buffer with the bytes at an offset. It may be called again for the same bytes.
  func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError)

  /// Reads bytes of a file into a buffer: from an offset, until the buffer is full or the file ends.
  ///
  /// - Returns: how many bytes were read; nil if there is no such file.
  func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int?

  /// The names of the files of a folder, without the folder's name, in any order. O(files).
  func fileNames(in folder: String) throws(CarrierError) -> [String]

  /// Removes files of one folder, those that are there.
  func removeFiles(_ names: [String], in folder: String) throws(CarrierError)
}

extension CarrierFiles {
  private static var notesFolder: String { "members" }
  private static var noteLengthMax: Int { 4096 }

  public func notes() throws(CarrierError) -> [CarrierNote] {
    var notes: [CarrierNote] = []
    for member in try fileNames(in: Self.notesFolder) {
      var bytes = [UInt8](repeating: 0, count: Self.noteLengthMax)
      let count = try bytes.lendMutableBytes { buffer throws(CarrierError) in
        try readFile("\(Self.notesFolder)/\(member)", at: 0, into: buffer)
      }
      // Removed meanwhile, if there is none.
      guard let count else { continue }
      notes.append(CarrierNote(member: member, bytes: Array(bytes[..<count])))
    }
    return notes
  }

  public func setNote(_ note: CarrierNote) throws(CarrierError) {
    try replaceFile("\(Self.notesFolder)/\(note.member)", note.bytes)
  }

  public func removeNote(of member: String) throws(CarrierError) {
    try removeFiles([member], in: Self.notesFolder)
  }
}
