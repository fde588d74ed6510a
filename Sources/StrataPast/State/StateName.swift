// Which state a folder holds, and what decided it besides the log.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The identity of a state on disk: the projection's name and version, and whether touches are recorded.
struct StateName: Sendable, Hashable {
  let name: String
  let version: Int
  let recordsTouches: Bool
  static let documentsName = "$documents"
  /// The bytes of a folder's name, without the version.
  private static let folderLengthMax = 120
  private static let touchesSuffix = "-touches"
  private static let readerMark = "~"

  init(name: String, version: Int, recordsTouches: Bool) {
    self.name = name
    self.version = version
    self.recordsTouches = recordsTouches
  }

  /// Nil for a folding whose states are not kept: one of some tables only.
  init?(_ folding: Folding) {
    recordsTouches = folding.recordsTouches
    switch folding.withoutTouches {
    case .documents(nil): (name, version) = (Self.documentsName, 1)
    case .own(let projection):
      let type = Swift.type(of: projection)
      (name, version) = (type.name, type.version)
    case .documents, .touching: return nil
    }
  }

  var isOfDocuments: Bool { name == Self.documentsName }

  /// The name of the folder: small letters, digits, `_` and `$` as they are, all other bytes as `%` and two digits, so that no
  /// file system takes two names for one; a long name is cut and gets its hash.
  var folder: String {
    var text = ""
    for byte in name.utf8 {
      switch byte {
      case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"):
        text.unicodeScalars.append(.init(byte))
      default: text += "%" + Self.digits(UInt64(byte), count: 2)
      }
    }
    if text.utf8.count > Self.folderLengthMax {
      text =
        String(text.prefix(Self.folderLengthMax)) + "%" + Self.digits(XXH64.of(Array(name.utf8)), count: 16)
    }
    return "\(text)-\(version)\(recordsTouches ? Self.touchesSuffix : "")"
  }

  /// The name that a folder is of; nil for a folder of another kind, and for that of a long name, of which it has a part.
  init?(folder: String) {
    guard let dash = folder.lastIndex(where: { $0 == "-" }), let version = Self.version(inFolder: folder)
    else { return nil }
    let touches = folder.hasSuffix(Self.touchesSuffix)
    let end = touches ? folder.firstIndex(of: "-") ?? dash : dash
    guard let name = Self.decoded(folder[..<end]) else { return nil }
    self.init(name: name, version: version, recordsTouches: touches)
    if self.folder != folder { return nil }
  }

  /// The name of a folder without the mark of readers.
  static func withoutReaderMark(_ folder: String) -> String {
    folder.hasSuffix(readerMark) ? String(folder.dropLast(readerMark.count)) : folder
  }

  /// Replaces `%` and two digits by the byte that they are of; nil where that is no UTF-8.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), let value = UInt8(digits, radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The name of the folder for what processes save that only read.
  var readerFolder: String { folder + Self.readerMark }

  /// Whether a folder is one of readers, of this version of the projection or a lower one.
  func isReaderFolder(_ other: String) -> Bool {
    other == readerFolder
      || other.hasSuffix(Self.readerMark) && isAbove(folder: String(other.dropLast(Self.readerMark.count)))
  }

  /// Whether a folder is that of a lower version of the same projection, whether or not it records touches.
  func isAbove(folder other: String) -> Bool {
    guard let lower = Self.version(inFolder: other), lower < version else { return false }
    let touches = other.hasSuffix(Self.touchesSuffix)
    return StateName(name: name, version: lower, recordsTouches: touches).folder == other
  }

  /// The version in the name of a folder; nil if there is none.
  static func version(inFolder folder: String) -> Int? {
    guard let dash = folder.firstIndex(of: "-") else { return nil }
    let text = folder[dash...].dropFirst()
    return Int(text.hasSuffix(touchesSuffix) ? text.dropLast(touchesSuffix.count) : text)
  }

  /// The hash that STATE holds.
  var hash: UInt64 {
    XXH64.of(Array("\(recordsTouches ? 1 : 0) \(version) \(name)".utf8))
  }

  private static func digits(_ number: UInt64, count: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension Folding {
  /// The same function without the recording of touches.
  var withoutTouches: Folding { if case .touching(let folding) = self { folding } else { self } }
}

/// What decides the result of a fold besides the events: Strata's own code and, for a projection of the application,
/// its type. What is saved of another one is folded again.
///
/// The version that a projection declares is trusted: a state that another build saved under it is used, as event stores
/// do that keep a position with a projection's name. To compare it with the log would cost each deployment a fold of the
/// whole store, with both tables in memory and nothing saved meanwhile, so that a mistake of the author shows;
/// `EventStore.verifyTables(of:)` shows it once, when the author asks.
struct StateFingerprint {
  /// Strata's code and the projection's type.
  let code: UInt64
  /// The one build of the program that may use what it saved; 0 if any may. While a program is being developed its author
  /// expects to see what the code makes now, and the name of a private or local type is the same in one build only.
  let build: UInt64

  /// Raised whenever Strata's fold of the same events gives other tables than before.
  private static let foldNumber = 2

  /// Nil if the build decides, and nothing says which one this is.
  init?(_ folding: Folding, _ options: StoreOptions) {
    var text = "fold \(Self.foldNumber)"
    var build: UInt64 = 0
    if case .own(let projection) = folding.withoutTouches {
      let type = Swift.type(of: projection)
      text += " of \(ProgramImage.name(of: type))"
      // Tables of a fold that goes on after a failure are none of one that halts at it.
      if type.onFailure == .halt { text += " halting" }
      if !options.usesStatesOfOtherBuilds || !ProgramImage.hasLastingName(type) {
        guard let identity = ProgramImage.identity(of: type) else { return nil }
        build = XXH64.of(Array(identity.utf8))
      }
    }
    code = XXH64.of(Array(text.utf8))
    self.build = build
  }

  /// Whether a state is of the same code.
  func isOf(_ slot: StateSlot) -> Bool { slot.fingerprint == code && slot.build == build }
}
