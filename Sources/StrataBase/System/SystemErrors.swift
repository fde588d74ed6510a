// The system's own words for its error numbers.

internal import CStrata

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What the system says about a value of `errno`, for people: "No space left on device".
package func systemMessage(_ code: Int32) -> String {
  switch code {
  case SystemErrorCode.isLink: return "It is a symbolic link"
  case SystemErrorCode.notRegularFile: return "It is not a regular file"
  default: break
  }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    let start = buffer.baseAddress!
    strata_error_message(code, start, buffer.count)
    return String(cString: start)
  }
}

/// The numbers of the failures that a caller tells apart, so that nobody needs the system's module for them.
package enum SystemErrorCode {
  /// No system's number: a symbolic link where none is followed.
  package static var isLink: Int32 { -1 }
  /// No system's number: a pipe, a socket or a device where a regular file was wanted.
  package static var notRegularFile: Int32 { -2 }
  /// There is nothing at that path.
  package static var notFound: Int32 { ENOENT }
  /// There is something at that path already.
  package static var alreadyExists: Int32 { EEXIST }
  /// The permissions forbid it.
  package static var accessDenied: Int32 { EACCES }
  /// Forbidden whatever the permissions: on Apple's systems, a file that is protected while the device is
  /// locked.
  package static var notPermitted: Int32 { EPERM }
  /// The medium can be read only.
  package static var readOnly: Int32 { EROFS }
  /// Whether there is no room: the disk is full, or what this user may have of it.
  package static func isNoRoom(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }
  /// The disk is full.
  package static var noSpace: Int32 { ENOSPC }
  /// The file would be longer than a file can be.
  package static var fileTooLarge: Int32 { EFBIG }
  /// The device failed.
  package static var inputOutput: Int32 { EIO }
  /// The process has no descriptor left.
  package static var tooManyOpenFiles: Int32 { EMFILE }
  /// The file is closed, or was opened for reading only.
  package static var badDescriptor: Int32 { EBADF }
  /// An argument makes no sense: a negative offset or size.
  package static var invalidArgument: Int32 { EINVAL }
  /// A folder stands where a file was wanted.
  package static var isDirectory: Int32 { EISDIR }
  /// A file stands where a folder was wanted.
  package static var notDirectory: Int32 { ENOTDIR }
  /// The file that had the name is not the one that has it now.
  package static var staleHandle: Int32 { ESTALE }
  /// There is no memory left.
  package static var noMemory: Int32 { ENOMEM }
  /// A signal came in between: the call is made again.
  package static var interrupted: Int32 { EINTR }
  /// Not now: the call is made again.
  package static var tryAgain: Int32 { EAGAIN }
}
