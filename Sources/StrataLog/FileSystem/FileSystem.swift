// The seam through which every byte reaches and leaves the disk, so that the same log runs over POSIX
// files, over memory, and over a simulated disk that loses power.

internal import StrataBase

/// What a store needs of a file system: some dozen calls, each with the contract that recovery relies on.
///
/// Paths are absolute or relative to the working directory, separated by `/`. All calls block; none may be
/// made on the cooperative pool.
package protocol FileSystem: Sendable {
  /// Creates the folder, and those above it that are missing. Does nothing where it exists.
  func createDirectory(_ path: String) throws(StoreError)

  /// The names in a folder, without `.` and `..`, in ascending order of their bytes. No snapshot: what others name or
  /// remove meanwhile is among them or not, each by itself.
  func contents(ofDirectory path: String) throws(StoreError) -> [String]

  /// What stands at the path, or nil where nothing does.
  func kind(of path: String) throws(StoreError) -> FileKind?

  /// Opens a regular file, and waits for nobody to open what is none. The descriptor does not survive `exec`. For
  /// writing no symbolic link is followed from the last name of the path.
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File

  /// Gives a file a new name in one step; whatever had that name is gone. Durable only after
  /// `syncDirectory` of the folder.
  func rename(_ path: String, to newPath: String) throws(StoreError)

  /// Gives a file a new name in one step where nothing has that name, and fails with `EEXIST` where something has.
  /// Durable only after `syncDirectory` of the folder; until then a power cut may leave the file both names.
  func renameNew(_ path: String, to newPath: String) throws(StoreError)

  /// Removes a file. Durable only after `syncDirectory` of the folder.
  func remove(_ path: String) throws(StoreError)

  /// Removes those files of a folder whose names are meant, and no folder. The folder itself is not reached through a
  /// symbolic link, nor is any file. Nothing where there is no folder. Durable only after `syncDirectory`.
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError)

  /// Whether a symbolic link has this name, wherever it leads.
  func isLink(_ path: String) throws(StoreError) -> Bool

  /// A number that nobody else is given who uses this file system: for the names of unfinished files.
  func freshToken() -> UInt64

  /// The same path for as long as the process lives, whatever its working directory becomes.
  func absolutePath(_ path: String) -> String

  /// Makes the folder's entries (names created, renamed, removed) durable.
  func syncDirectory(_ path: String) throws(StoreError)

  /// Begins to watch an existing folder for writes to the files in it; what is written from here on is told. Nil
  /// where this file system cannot tell: the caller looks now and then instead.
  func watch(_ folder: String) -> (any FolderWatch)?

  /// A text that is the same for two paths exactly where both lead to the same file or folder of the same file
  /// system. Nil where nothing stands there, or nothing can be said.
  func identity(of path: String) throws(StoreError) -> String?
}

/// One open file. Calls are safe from several threads; each is a system call and blocks.
package protocol File: AnyObject, Sendable {
  /// The path that the file was opened by, for messages.
  var path: String { get }

  /// Reads up to `buffer.count` bytes at `offset`; fewer only at the end of the file. Interrupted and
  /// partial reads are continued.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int

  /// Writes all bytes at `offset`, growing the file where needed. On an error any part of them may have
  /// been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError)

  /// The length in bytes.
  func size() throws(StoreError) -> Int64

  /// Cuts the file, or extends it with zeros.
  func truncate(to size: Int64) throws(StoreError)

  /// Gives this file the permissions that another one was opened with, so that what takes its place is for the same
  /// readers; its owner may always read and write it. A request: it cannot fail.
  func takePermissions(of other: any File)

  /// Makes content and length durable. After a failure nothing is known about what is on disk.
  func sync() throws(StoreError)

  /// Makes content durable, and the length where it is needed to read that content back.
  func syncData() throws(StoreError)

  /// Asks that the next reads come from the disk and not from a cache of pages that a failed sync may have
  /// marked clean. A request: it cannot fail.
  func dropCache()

  /// Takes the advisory lock of this open file without waiting. False where somebody else has it.
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool

  /// Gives the lock back; closing does too.
  func unlock()

  /// A text that no other file has for as long as this one is open, on the same file system. Nil where nothing can be
  /// said.
  var identity: String? { get }

  /// The identity of the file behind the descriptor and of the one at its path now; they differ when the
  /// file was replaced or removed.
  func isStillAtItsPath() throws(StoreError) -> Bool

  /// Closes the descriptor. Later calls fail with EBADF. Closing twice does nothing.
  func close()
}

/// What a name in a folder stands for.
package enum FileKind: Sendable, Equatable {
  case file, directory, other
}

/// How a file is opened.
package enum FileOpenMode: Sendable, Equatable {
  /// For reading; fails where there is none.
  case read
  /// For reading and writing; fails where there is none.
  case readWrite
  /// For reading and writing; created where there is none.
  case create
  /// For reading and writing; fails where there is one.
  case createNew
}

/// The two strengths of an advisory lock.
package enum FileLockKind: Sendable, Equatable {
  case shared, exclusive
}
