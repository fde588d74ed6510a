// What holds the objects of one store outside of any machine.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A place outside of any machine that holds the objects of one store under the numbers 1, 2, 3 and so on, without gaps.
///
/// Every call blocks for as long as the carrier takes to answer, and is made on a thread of its own. Calls may come from
/// several threads, of which only one puts.
///
/// What decides between two writers is `put`: of all that put an object under a number, one wins. A carrier that cannot
/// promise that must not pass `prove`.
public protocol Carrier: AnyObject, Sendable {
  /// What messages call it: its URL, without user names, passwords and keys.
  var name: String { get }

  /// What messages call a file or an object of it, by its path: `name`, a slash and the path, unless a name has an end that
  /// belongs after them.
  func place(of path: String) -> String

  /// How many bytes of appends an object holds at most where the shipper may choose. A single block that has more still
  /// travels as one object.
  var objectSizeTarget: Int { get }

  /// Tries on objects of its own that a number which is taken stays taken, and removes them.
  ///
  /// - Throws: `unfit` if the carrier ignores the condition, or lacks what the promises rest on.
  func prove() throws(CarrierError)

  /// Puts objects whose numbers follow each other, in their order, each only if nothing has its number and every number
  /// before it is taken. What was put is as durable as the carrier can make it when the call returns.
  ///
  /// A put that is not known to have won may still win later: nothing takes it back.
  func put(_ objects: [CarrierObject]) -> CarrierAnswer

  /// Makes an object that is there as durable as what `put` has called stored: one whose put had no answer may not be.
  func confirm(_ object: CarrierObject) throws(CarrierError)

  /// The object under a number, whole; nil if there is none yet.
  ///
  /// - Throws: `unreachable` if nothing is known; nil is never returned for that.
  func object(_ number: UInt64) throws(CarrierError) -> CarrierObject?

  /// Whether there is an object under a number, which costs less than to read it.
  func hasObject(_ number: UInt64) throws(CarrierError) -> Bool

  /// Which numbers are taken, from a list of them: O(numbers).
  func extent() throws(CarrierError) -> CarrierExtent

  /// Replaces the object under a number by one of the same events, some of which have lost their content. Only the
  /// writer does this, after the content was erased. On return nobody can read an earlier form of the object any more; a
  /// carrier whose servers keep one for longer says so on its page.
  ///
  /// - Parameter object: the new form, with the version of the one that was read.
  /// - Throws: `unreachable` if the object has another version by now, in a carrier that keeps versions.
  func replaceObject(_ object: CarrierObject) throws(CarrierError)

  /// Returns when there may be an object under a number, and not later than after the interval of looking for it. A
  /// carrier that can be told returns sooner.
  func waitForObject(_ number: UInt64, within interval: Duration)

  /// What members say of themselves, in any order.
  func notes() throws(CarrierError) -> [CarrierNote]

  /// Keeps what a member says of itself in place of what it said before. Only that member calls it.
  func setNote(_ note: CarrierNote) throws(CarrierError)

  /// Removes what a member said, if anything.
  func removeNote(of member: String) throws(CarrierError)
}

extension Carrier {
  public func place(of path: String) -> String { "\(name)/\(path)" }

  /// 1 MiB.
  public var objectSizeTarget: Int { 1 << 20 }

  public func confirm(_ object: CarrierObject) throws(CarrierError) {}

  public func hasObject(_ number: UInt64) throws(CarrierError) -> Bool { try object(number) != nil }
}

/// The numbers that are taken in a carrier.
public struct CarrierExtent: Sendable, Equatable {
  /// The largest one, 0 if there is none.
  public private(set) var last: UInt64 = 0
  /// The numbers before it that are not taken, ascending: the first of a carrier whose first objects were removed, and what
  /// is lost. At most the first `missingMax` runs of them.
  public private(set) var missing: [ClosedRange<UInt64>] = []

  public static let missingMax = 1000
  /// The largest number that an object can have.
  public static let numberMax = UInt64(Int64.max)

  /// Nothing is taken.
  public init() {}

  /// - Parameters:
  ///   - last: the largest number that is taken, 0 if there is none.
  ///   - missing: the numbers before it that are not, as ranges, ascending.
  public init(last: UInt64, missing: [ClosedRange<UInt64>] = []) {
    self.last = last
    self.missing = missing
  }

  /// - Parameter numbers: the numbers that are taken, in any order, each once. O(n log n).
  public init(of numbers: some Collection<UInt64>) { for number in numbers.sorted() { add(number) } }

  /// Adds a number that is larger than all before, up to `numberMax`; another one says nothing.
  public mutating func add(_ number: UInt64) {
    guard number > last, number <= Self.numberMax else { return }
    if number > last + 1, missing.count < Self.missingMax { missing.append(last + 1...number - 1) }
    last = number
  }
}

/// An object, and the number that it has or is to have.
public struct CarrierObject: Sendable, Equatable {
  public let number: UInt64
  public let bytes: [UInt8]
  /// What the carrier calls this form of the object; nil if it keeps no versions, or the object was not read there.
  public let version: String?

  public init(number: UInt64, bytes: [UInt8], version: String? = nil) {
    self.number = number
    self.bytes = bytes
    self.version = version
  }
}

/// What a member says of itself in a carrier.
public struct CarrierNote: Sendable, Equatable {
  /// The member: lower-case letters, digits and hyphens.
  public let member: String
  public let bytes: [UInt8]

  public init(member: String, bytes: [UInt8]) {
    self.member = member
    self.bytes = bytes
  }
}

/// What became of a put.
public enum CarrierAnswer: Sendable, Equatable {
  /// All objects are in the carrier.
  case stored
  /// The first objects are, `count` of them; of the next one this is known. Nothing is known of those after it.
  case stopped(count: Int, CarrierStop)
}

/// Why a put stopped at an object.
public enum CarrierStop: Sendable, Equatable {
  /// Something has its number, or a put of it is in progress.
  case taken
  /// It may be there, or come there later.
  case unknown(CarrierError)
  /// It is not there, and the same put would be refused again.
  case refused(CarrierError)
}

/// Why a carrier did not do what it was asked for: what happened, and what to do next.
public struct CarrierError: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
  /// The reasons known today; a later version may add more.
  public struct Reason: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No answer, or one that says that another try may succeed.
    public static let unreachable = Reason(rawValue: "unreachable")
    /// The carrier refuses: access, or a full disk. Another try is refused too until somebody has changed that.
    public static let refused = Reason(rawValue: "refused")
    /// The carrier cannot keep what a copy promises: it ignores conditions, or lacks a call.
    public static let unfit = Reason(rawValue: "unfit")
  }

  public let reason: Reason
  /// What happened, as a sentence without its full stop.
  public let what: String
  /// What to do next, as a sentence without its full stop.
  public let next: String

  public init(_ reason: Reason, what: String, next: String) {
    self.reason = reason
    self.what = what
    self.next = next
  }

  public var description: String { "\(what); \(next)" }
  public var errorDescription: String? { what }
  public var recoverySuggestion: String? { next }
}
