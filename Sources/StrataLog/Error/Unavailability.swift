// Why a store cannot carry out a valid call.

internal import StrataBase

extension StoreError {
  /// Why a store cannot carry out a call: a reason to decide by, and the same three texts that every error has.
  public struct Unavailability: Sendable, Equatable {
    /// The reasons known today; a later version may add more.
    public struct Reason: RawRepresentable, Hashable, Sendable {
      public let rawValue: String
      public init(rawValue: String) { self.rawValue = rawValue }

      /// The store was closed.
      public static let closed = Reason(rawValue: "closed")
      /// The store is suspended: nothing was appended. Resume it, and append again.
      public static let suspended = Reason(rawValue: "suspended")
      /// The store is open for reading only.
      public static let readOnly = Reason(rawValue: "readOnly")
      /// A sync or a write of HEAD failed, a failed write could not be undone, or the lock was lost, so the store
      /// accepts nothing more. Open it again. An append that failed with this reason may or may not be in the log then:
      /// repeat it with the same append id, or read the version of its stream first.
      public static let poisoned = Reason(rawValue: "poisoned")
      /// Written by a newer version. Use that version.
      public static let unsupported = Reason(rawValue: "unsupported")
      /// There is no store at that path; opening for reading creates none.
      public static let notFound = Reason(rawValue: "notFound")
      /// Something that is not a store is at the path.
      public static let notAStore = Reason(rawValue: "notAStore")
      /// The store cannot be created there.
      public static let cannotCreate = Reason(rawValue: "cannotCreate")
      /// A symbolic link is where a file or a folder of the store belongs. A writer follows none, since the target is
      /// not the store's to change. The path of the store itself may be a link.
      public static let linked = Reason(rawValue: "linked")
      /// The system does not let a file of the store be opened by any process: on Apple's systems because the file is
      /// protected while the device is locked. Nothing is wrong with the file. Try again when the device is unlocked.
      public static let protected = Reason(rawValue: "protected")
      /// The system refused a call; the texts say which call, on what, and why.
      public static let system = Reason(rawValue: "system")
      /// The system refused to read some events. Others can be read.
      public static let unreadable = Reason(rawValue: "unreadable")
      /// A projection halted before an event that it cannot apply, which `sequences` names. Other tables can be read.
      public static let halted = Reason(rawValue: "halted")
      /// Another run of the same consumer has saved a position, so this run ended.
      public static let consumedElsewhere = Reason(rawValue: "consumedElsewhere")
      /// The store follows another machine's, and takes events from there only. Append on that machine, or take over.
      public static let following = Reason(rawValue: "following")
      /// Another machine has taken over the writing of the store: what this one appended since then is only here. Rejoin,
      /// which keeps that apart and follows.
      public static let fenced = Reason(rawValue: "fenced")
      /// The copies of the store have other events than it has. Nothing is taken from them.
      public static let diverged = Reason(rawValue: "diverged")
      /// The place that holds a copy of the store did not answer, or refuses.
      public static let carrierUnavailable = Reason(rawValue: "carrierUnavailable")
      /// The place that is to hold a copy of the store cannot keep what a copy promises.
      public static let carrierUnfit = Reason(rawValue: "carrierUnfit")
      /// A lookup that may not read a whole segment needs an index that is not built. Only callers that forbid building
      /// get this.
      package static let indexMissing = Reason(rawValue: "indexMissing")
    }

    /// What the reason is about.
    fileprivate enum Detail: Equatable {
      case state
      case text(String)
      case path(String, what: String)
      case advice(String, what: String, next: String)
      case finding(StoreFinding)
      case call(FileSystemError)
      case events(ClosedRange<UInt64>, offset: UInt64, FileSystemError)
      case segment(SegmentName)
      case halt(UInt64, stream: String, what: String)
    }

    public let reason: Reason
    fileprivate let detail: Detail

    fileprivate init(_ reason: Reason, _ detail: Detail = .state) {
      self.reason = reason
      self.detail = detail
    }

    init(refused call: FileSystemError) {
      switch call.code {
      case SystemErrorCode.isLink: self.init(.linked, .call(call))
      case SystemErrorCode.notPermitted where call.operation == "open": self.init(.protected, .call(call))
      default: self.init(.system, .call(call))
      }
    }
  }
}

// MARK: What it is about

extension StoreError.Unavailability {
  /// What a newer version wrote.
  package var finding: StoreFinding? {
    if case .finding(let finding) = detail { finding } else { nil }
  }

  /// The events that cannot be read, or the one that a projection cannot apply.
  public var sequences: ClosedRange<UInt64>? {
    switch detail {
    case .events(let sequences, _, _): sequences
    case .halt(let sequence, _, _): sequence...sequence
    default: nil
    }
  }

  /// The system's error number of a refused call.
  public var systemCode: Int32? { code.flatMap { $0 > 0 ? $0 : nil } }

  /// The error number of a refused call, including numbers that are not the system's.
  package var code: Int32? {
    switch detail {
    case .call(let call), .events(_, _, let call): call.code
    default: nil
    }
  }

  /// What happened, as a sentence without its full stop.
  package var what: String {
    switch detail {
    case .text(let text), .path(_, let text), .advice(_, let text, _), .halt(_, _, let text): return text
    case .finding(let finding): return finding.what
    case .events(let events, _, let call):
      return
        "cannot read the events \(events.lowerBound) to \(events.upperBound): \(systemMessage(call.code))"
    case .segment(let name): return "the index of the segment that begins at \(name) is not built"
    case .call(let call):
      switch reason {
      case .linked: return "a symbolic link is where a file or a folder of the store belongs"
      case .protected: return "the system does not let the file be opened"
      default: return "cannot \(call.operation): \(systemMessage(call.code))"
      }
    case .state:
      switch reason {
      case .suspended: return "the store is suspended"
      case .readOnly: return "the store is open for reading only"
      case .closed: return "the store is closed"
      default: return "the store is unavailable: \(reason.rawValue)"
      }
    }
  }

  /// Where it happened: a path, or a file with an offset. Empty if it concerns the store as a whole.
  package var place: String {
    switch detail {
    case .path(let path, _), .advice(let path, _, _): path
    case .finding(let finding): "\(finding.file) at byte \(finding.offset)"
    case .call(let call): call.path
    case .events(_, let offset, let call): "\(call.path) at byte \(offset)"
    case .halt(_, let stream, _): stream
    case .state, .text, .segment: ""
    }
  }

  /// What to do next, as a sentence without its full stop.
  package var next: String {
    if case .advice(_, _, let next) = detail { return next }
    return switch reason {
    case .closed: "open the store again"
    case .suspended: "resume the store, then append again"
    case .readOnly: "open the store for writing"
    case .poisoned: "open the store again; what was acknowledged is there"
    case .notFound: "check the path, or create the store by opening it for writing"
    case .notAStore: "choose another path; what is there was not changed"
    case .cannotCreate: "check the permissions and the path"
    case .linked:
      "replace the link by the file or folder itself, or move the whole store and make its own path the link"
    case .protected:
      "try again once the device is unlocked; on other systems check whether the file is immutable"
    case .halted: "correct the projection and raise its version, or erase the event"
    case .consumedElsewhere: "run a consumer once at a time, or give the second one another name"
    case .unreadable: "check the disk; other events can be read, and a backup has these"
    case .indexMissing: "build it, or call a function that may build it"
    case .system where code == SystemErrorCode.notRegularFile: "move what is at that path out of the store"
    case .system: "check the disk and the permissions"
    case .unsupported: finding?.next ?? ""
    default: "read what happened, and try again once the cause has passed"
    }
  }
}

// MARK: Making errors

extension StoreError {
  /// The store was closed.
  package static var closed: StoreError { .unavailable(Unavailability(.closed)) }

  /// The store is suspended.
  package static var suspended: StoreError { .unavailable(Unavailability(.suspended)) }

  /// The store is open for reading only.
  package static var readOnly: StoreError { .unavailable(Unavailability(.readOnly)) }

  /// Nothing more is accepted.
  package static func poisoned(_ why: String) -> StoreError {
    .unavailable(Unavailability(.poisoned, .text(why)))
  }

  /// A newer version wrote it.
  package static func unsupported(_ finding: StoreFinding) -> StoreError {
    .unavailable(Unavailability(.unsupported, .finding(finding)))
  }

  /// Nothing is there to open.
  package static func notFound(path: String, what: String) -> StoreError {
    .unavailable(Unavailability(.notFound, .path(path, what: what)))
  }

  /// Something that is not a store is at the path.
  package static func notAStore(path: String, what: String) -> StoreError {
    .unavailable(Unavailability(.notAStore, .path(path, what: what)))
  }

  /// The store cannot be created there.
  package static func cannotCreate(path: String, what: String) -> StoreError {
    .unavailable(Unavailability(.cannotCreate, .path(path, what: what)))
  }

  /// The error of a refused call while a store is being created at a path.
  func asCreation(of path: String) -> StoreError {
    systemCode.map { .cannotCreate(path: path, what: systemMessage($0)) } ?? self
  }

  /// A symbolic link has the name of one of the store's files or folders.
  package static func linked(path: String) -> StoreError {
    .refused("open", path, code: SystemErrorCode.isLink)
  }

  /// The system refused to read these events, in the block at this offset.
  package static func unreadable(
    _ error: StoreError, path: String, offset: UInt64, sequences: ClosedRange<UInt64>
  ) -> StoreError {
    let call = FileSystemError("read", path, code: error.systemCode ?? SystemErrorCode.inputOutput)
    return .unavailable(Unavailability(.unreadable, .events(sequences, offset: offset, call)))
  }

  /// A projection cannot apply an event, and may not leave it out.
  package static func halted(
    _ projection: String, sequence: UInt64, stream: UnsafeRawBufferPointer, what: String
  ) -> StoreError {
    let what = "the projection \(projection) cannot apply event \(sequence), and halts before it: \(what)"
    return .unavailable(
      Unavailability(
        .halted, .halt(sequence, stream: String(decoding: stream, as: UTF8.self), what: what)))
  }

  /// Another run of a consumer has saved a position.
  package static func consumedElsewhere(_ consumer: String, stream: String) -> StoreError {
    .unavailable(
      Unavailability(
        .consumedElsewhere, .path(stream, what: "another run of the consumer \(consumer) saved its position"))
    )
  }

  /// A copy of the store on another machine, or the place between them, is why a call is not carried out.
  package static func replica(
    _ reason: Unavailability.Reason, place: String, what: String, next: String
  ) -> StoreError {
    .unavailable(Unavailability(reason, .advice(place, what: what, next: next)))
  }

  /// The index of a closed segment is not built.
  package static func indexMissing(segment: SegmentName) -> StoreError {
    .unavailable(Unavailability(.indexMissing, .segment(segment)))
  }
}
