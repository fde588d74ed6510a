// The seam through which every byte reaches and leaves the disk, so that the same log runs over POSIX
// files, over memory, and over a simulated disk that loses power.

internal import StrataBase

/// What a store needs from a file system: a dozen or so calls, each with the contract that recovery relies on.
///
/// Paths are absolute or relative to the working directory, separated by `/`. All calls block, so none may be made on
/// the cooperative pool.
package protocol FileSystem: Sendable {
  /// Creates the folder, and any missing folders above it. Does nothing if it exists.
  func createDirectory(_ path: String) throws(StoreError)

  /// The names in a folder, without `.` and `..`, in ascending order of their bytes. Not a snapshot: each name that
  /// other processes add or remove during the call may be included or not.
  func contents(ofDirectory path: String) throws(StoreError) -> [String]

  /// The kind of what is at the path, or nil if nothing is there.
  func kind(of path: String) throws(StoreError) -> FileKind?

  /// Opens a regular file, and never blocks on anything else, such as a pipe. The descriptor does not survive `exec`.
  /// An open for writing does not follow a symbolic link in the last component of the path.
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File

  /// Renames a file atomically; a file that had the new name is replaced. Durable only after `syncDirectory` of the
  /// folder.
  func rename(_ path: String, to newPath: String) throws(StoreError)

  /// Renames a file atomically if the new name is free, and fails with `EEXIST` if it is taken. Durable only after
  /// `syncDirectory` of the folder; until then a power cut may leave the file with both names.
  func renameNew(_ path: String, to newPath: String) throws(StoreError)

  /// The same as one step of the file system, which two processes, on two machines too, cannot both succeed with. Fails
  /// with `ENOTSUP` if the file system has no such step.
  func renameFenced(_ path: String, to newPath: String) throws(StoreError)

  /// Removes a file. Durable only after `syncDirectory` of the folder.
  func remove(_ path: String) throws(StoreError)

  /// Removes the files of a folder whose names satisfy `isMeant`, and no folders. It follows no symbolic link, neither
  /// to the folder itself nor to a file. Does nothing if there is no folder. Durable only after `syncDirectory`.
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError)

  /// Whether this name is a symbolic link, wherever it leads.
  func isLink(_ path: String) throws(StoreError) -> Bool

  /// A number that no other user of this file system gets, for the names of unfinished files.
  func freshToken() -> UInt64

  /// The time of day for messages, in UTC, as in RFC 3339: `2026-11-20T18:17:16Z`.
  func timeText() -> String

  /// The path as an absolute one, which stays valid when the process changes its working directory.
  func absolutePath(_ path: String) -> String

  /// Makes the folder's entries (names created, renamed, removed) durable.
  func syncDirectory(_ path: String) throws(StoreError)

  /// Starts to watch an existing folder for writes to its files; every write from now on leads to a notification. Nil
  /// if this file system cannot notify: the caller polls instead.
  func watch(_ folder: String) -> (any FolderWatch)?

  /// The bytes that this user may still write to the file system of a path, without what a quota says. Nil if the file
  /// system cannot tell.
  func freeSize(at path: String) -> UInt64?

  /// A text that is the same for two paths if and only if both lead to the same file or folder of the same file system.
  /// Nil if nothing is there, or if the file system cannot tell.
  func identity(of path: String) throws(StoreError) -> String?
}

/// One open file. Calls are safe from several threads; each is a system call and blocks.
package protocol File: AnyObject, Sendable {
  /// The path that the file was opened by, for messages.
  var path: String { get }

  /// Reads up to `buffer.count` bytes at `offset`; fewer only at the end of the file. Interrupted and
  /// partial reads are continued.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int

  /// Asks the system to have some bytes in memory by the time that they are read, and does not wait for them. Best
  /// effort: it never fails.
  func willRead(at offset: Int64, count: Int)

  /// Writes all bytes at `offset`, growing the file if needed. After an error any part of them may have been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError)

  /// The length in bytes.
  func size() throws(StoreError) -> Int64

  /// Cuts the file, or extends it with zeros.
  func truncate(to size: Int64) throws(StoreError)

  /// Gives this file the permissions that another one had when it was opened, so that a replacement has the same
  /// readers; its owner may always read and write it. Best effort: it never fails.
  func takePermissions(of other: any File)

  /// Makes content and length durable. After a failure nothing is known about what is on disk.
  func sync() throws(StoreError)

  /// Makes content durable, and the length if it is needed to read that content back.
  func syncData() throws(StoreError)

  /// Asks the system to serve the next reads from the disk and not from a page cache whose pages a failed sync may have
  /// marked clean. Best effort: it never fails.
  func dropCache()

  /// Takes the advisory lock of this open file without waiting. False if another open file holds it.
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool

  /// Releases the lock; closing does too.
  func unlock()

  /// A text that no other file of the same file system has for as long as this one is open. Nil if the file system
  /// cannot tell.
  var identity: String? { get }

  /// Whether the file of the descriptor is still the one at its path; false once the file was replaced or removed.
  func isStillAtItsPath() throws(StoreError) -> Bool

  /// Closes the descriptor. Later calls fail with EBADF. Closing twice does nothing.
  func close()
}

/// The kind of a directory entry.
package enum FileKind: Sendable, Equatable {
  case file, directory, other
}

/// How a file is opened.
package enum FileOpenMode: Sendable, Equatable {
  /// For reading; fails if there is no file.
  case read
  /// For reading and writing; fails if there is no file.
  case readWrite
  /// For reading and writing; creates the file if there is none.
  case create
  /// For reading and writing; creates the file, and fails if there is one.
  case createNew
}

/// The two strengths of an advisory lock.
package enum FileLockKind: Sendable, Equatable {
  case shared, exclusive
}
