// Why a store cannot do what was asked of it, though nothing is wrong with that.

internal import StrataBase

extension StoreError {
  /// Why a store cannot do what was asked: a reason to decide by, and the same three texts that every error has.
  public struct Unavailability: Sendable, Equatable {
    /// The reasons that there are today; a later version may have more.
    public struct Reason: RawRepresentable, Hashable, Sendable {
      public let rawValue: String
      public init(rawValue: String) { self.rawValue = rawValue }

      /// The store was closed.
      public static let closed = Reason(rawValue: "closed")
      /// The store is suspended: nothing was appended. Resume it, and append again.
      public static let suspended = Reason(rawValue: "suspended")
      /// The store is open for reading only.
      public static let readOnly = Reason(rawValue: "readOnly")
      /// A sync failed or the lock was lost, so nothing more is accepted. Open the store anew.
      public static let poisoned = Reason(rawValue: "poisoned")
      /// Written by a newer version. Use one.
      public static let unsupported = Reason(rawValue: "unsupported")
      /// There is no store at that path; opening for reading creates none.
      public static let notFound = Reason(rawValue: "notFound")
      /// Something else stands where the store should be.
      public static let notAStore = Reason(rawValue: "notAStore")
      /// The store cannot be made there.
      public static let cannotCreate = Reason(rawValue: "cannotCreate")
      /// A symbolic link stands where a file or a folder of the store's own belongs. Whoever writes follows none, since
      /// what it leads to is not the store's to change. The path of the store itself may be one.
      public static let linked = Reason(rawValue: "linked")
      /// The system does not let a file of the store be opened, whoever asks: on Apple's systems because it is protected
      /// while the device is locked. Nothing is wrong with it. Try again when the device is unlocked.
      public static let protected = Reason(rawValue: "protected")
      /// The system refused a call: which, on what, and why is in the texts.
      public static let system = Reason(rawValue: "system")
      /// The system refused to read some events. Others can be read.
      public static let unreadable = Reason(rawValue: "unreadable")
      /// A look-up that may not read a whole segment needs the index of one. Only who asks so gets it.
      package static let indexMissing = Reason(rawValue: "indexMissing")
    }

    /// The reason with what it is about.
    fileprivate enum Detail: Equatable {
      case state
      case text(String)
      case path(String, what: String)
      case finding(StoreFinding)
      case call(FileSystemError)
      case events(ClosedRange<UInt64>, offset: UInt64, FileSystemError)
      case segment(SegmentName)
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
  public var finding: StoreFinding? {
    if case .finding(let finding) = detail { finding } else { nil }
  }

  /// The events that cannot be read.
  public var sequences: ClosedRange<UInt64>? {
    if case .events(let sequences, _, _) = detail { sequences } else { nil }
  }

  /// The system's number of the reason for which it refused a call.
  public var systemCode: Int32? { code.flatMap { $0 > 0 ? $0 : nil } }

  /// The same, also where the number is none of the system's.
  package var code: Int32? {
    switch detail {
    case .call(let call), .events(_, _, let call): call.code
    default: nil
    }
  }

  /// What happened, as a sentence without its full stop.
  public var what: String {
    switch detail {
    case .text(let text), .path(_, let text): return text
    case .finding(let finding): return finding.what
    case .events(let events, _, let call):
      return
        "cannot read the events \(events.lowerBound) to \(events.upperBound): \(systemMessage(call.code))"
    case .segment(let name): return "the index of the segment that begins at \(name) is not built"
    case .call(let call):
      switch reason {
      case .linked: return "a symbolic link stands where a file or a folder of the store belongs"
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

  /// Where it happened: a path, or a file with an offset. Empty where that is the store itself.
  public var place: String {
    switch detail {
    case .path(let path, _): path
    case .finding(let finding): "\(finding.file) at byte \(finding.offset)"
    case .call(let call): call.path
    case .events(_, let offset, let call): "\(call.path) at byte \(offset)"
    case .state, .text, .segment: ""
    }
  }

  /// What to do next, as a sentence without its full stop.
  public var next: String {
    switch reason {
    case .closed: "open the store again"
    case .suspended: "resume the store, then append again"
    case .readOnly: "open the store for writing"
    case .poisoned: "open the store again; what was acknowledged is there"
    case .notFound: "check the path, or create the store by opening it for writing"
    case .notAStore: "choose another path; what stands there was not touched"
    case .cannotCreate: "check the permissions and the path"
    case .linked:
      "put the file or the folder itself there, or move the whole store and let its own path be the link"
    case .protected: "try again once the device is unlocked; elsewhere see whether the file is immutable"
    case .unreadable: "check the disk; other events can be read, and a backup has these"
    case .indexMissing: "build it, or ask where it may be built"
    case .system where code == SystemErrorCode.notRegularFile: "move what is there out of the store"
    case .system: "check the disk and the permissions"
    case .unsupported: finding?.next ?? ""
    default: "see what happened, and try again once it has passed"
    }
  }
}

// MARK: The ways to say it

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

  /// Something else stands where the store should be.
  package static func notAStore(path: String, what: String) -> StoreError {
    .unavailable(Unavailability(.notAStore, .path(path, what: what)))
  }

  /// The store cannot be created there.
  package static func cannotCreate(path: String, what: String) -> StoreError {
    .unavailable(Unavailability(.cannotCreate, .path(path, what: what)))
  }

  /// The refusal of a call as what it comes to where a store is being made at a path.
  func asCreation(of path: String) -> StoreError {
    systemCode.map { .cannotCreate(path: path, what: systemMessage($0)) } ?? self
  }

  /// A symbolic link has a name of the store's own.
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

  /// The index of a closed segment is not built.
  package static func indexMissing(segment: SegmentName) -> StoreError {
    .unavailable(Unavailability(.indexMissing, .segment(segment)))
  }
}
