// The system's error numbers, and its messages for them.

internal import CStrata

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Returns the system's message for a value of `errno`, for people to read: "No space left on device".
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

/// The error numbers that callers distinguish, so that they need not import the system's module.
package enum SystemErrorCode {
  /// Not a system error number: the path is a symbolic link, and links are not followed here.
  package static var isLink: Int32 { -1 }
  /// Not a system error number: the path is a pipe, a socket or a device, and not a regular file.
  package static var notRegularFile: Int32 { -2 }
  /// Nothing exists at that path.
  package static var notFound: Int32 { ENOENT }
  /// Something exists at that path already.
  package static var alreadyExists: Int32 { EEXIST }
  /// The permissions do not allow it.
  package static var accessDenied: Int32 { EACCES }
  /// Not allowed, regardless of the permissions: on Apple's systems, a file that is protected while the device is
  /// locked.
  package static var notPermitted: Int32 { EPERM }
  /// The medium is read-only.
  package static var readOnly: Int32 { EROFS }
  /// Whether there is no space left: the disk is full, or the user's quota is used up.
  package static func isNoRoom(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }
  /// The disk is full.
  package static var noSpace: Int32 { ENOSPC }
  /// The file would be longer than the system allows.
  package static var fileTooLarge: Int32 { EFBIG }
  /// The device failed.
  package static var inputOutput: Int32 { EIO }
  /// The process has no free file descriptor.
  package static var tooManyOpenFiles: Int32 { EMFILE }
  /// Whether the process or the system has too little of something to open a file, and may have more of it later.
  package static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
  /// The file is closed, or was opened for reading only.
  package static var badDescriptor: Int32 { EBADF }
  /// An argument is invalid, such as a negative offset or size.
  package static var invalidArgument: Int32 { EINVAL }
  /// The path is a folder, and not a file.
  package static var isDirectory: Int32 { EISDIR }
  /// The path is a file, and not a folder.
  package static var notDirectory: Int32 { ENOTDIR }
  /// Another file has taken the name since it was opened.
  package static var staleHandle: Int32 { ESTALE }
  /// The system has no memory left.
  package static var noMemory: Int32 { ENOMEM }
  /// A signal interrupted the call; the caller repeats it.
  package static var interrupted: Int32 { EINTR }
  /// The call cannot be completed now; the caller repeats it.
  package static var tryAgain: Int32 { EAGAIN }
}
