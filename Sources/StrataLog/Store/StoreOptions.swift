// Every choice and every limit of a log, each with a name.

internal import StrataBase

/// How durable an append is when its caller is told that it is done.
public enum Durability: UInt32, Sendable, CaseIterable {
  /// On disk, and HEAD too: even a wiped tail is noticed after a power cut.
  case paranoid = 1
  /// On disk. The default.
  case synced = 2
  /// Handed to the system, on disk within `headSyncInterval`: survives the process, not a power cut.
  case buffered = 3
}

/// Where commit times come from.
public struct StoreClock: Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  public var now: @Sendable () -> Int64

  public init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// The system's wall clock.
  public static let system = StoreClock { systemNanoseconds() }

  /// A clock for tests: 2026-01-01T00:00:00Z, and one second more each time it is asked.
  public static var fixed: StoreClock {
    let seconds = Lock<Int64>(1_767_225_600)
    return StoreClock {
      seconds.withLock { seconds in
        defer { seconds += 1 }
        return seconds * 1_000_000_000
      }
    }
  }
}

/// The choices and limits of an open store. The defaults suit most applications.
public struct StoreOptions: Sendable {
  public var durability: Durability = .synced
  /// Where commit times come from.
  public var clock: StoreClock {
    get { machine.clock }
    set { machine.clock = newValue }
  }
  /// The threads and the clock of the store.
  package var machine: StoreMachine = .process
  /// A segment is closed once it is this long, in bytes.
  public var segmentSizeTarget = 16 << 20
  /// Appends are gathered into blocks of about this many bytes before compression.
  public var blockSizeTarget = 64 << 10
  /// One group is written with one sync; it gathers about this many bytes before compression at most.
  public var groupSizeMax = 4 << 20
  /// The largest append, encoded; an event whose erased form is the longer one is counted with that.
  public var appendSizeMax = 16 << 20
  /// The largest payload of one event.
  public var payloadSizeMax = 16 << 20
  /// The largest metadata of one event, encoded.
  public var metadataSizeMax = 64 << 10
  /// The most events in one append.
  public var appendEventsMax = 1 << 20
  /// Bytes that may wait for the committer; beyond that callers wait before they hand anything over.
  public var pendingBytesMax = 32 << 20
  /// The active segment is extended with written zeros in steps of this many bytes, while it is written in small
  /// groups: a sync then has no new length to record, which may halve its time. The zeros are cut off when a
  /// segment is closed, and by `close`. 0 turns it off; on Apple's systems that is the default, because their
  /// file systems never write in place. Where `durability` is `buffered` nothing is extended.
  public var preallocationStep = StoreOptions.defaultPreallocationStep
  /// The largest `preallocationStep`, in bytes: a step is written at once, and an append may come meanwhile.
  public static let preallocationStepMax = 64 << 20
  /// HEAD is synced at least this often while there is something to sync.
  public var headSyncInterval: Duration = .seconds(1)
  /// Closed segments are rewritten on a thread of their own: larger blocks, compressed harder, with an index.
  public var sealsInBackground = true
  /// Called when that finds a segment which is not what was written: it reads each of them whole, which nobody else
  /// may do for years. Called on its thread, which waits meanwhile, once for a segment in each life of the store.
  /// `EventStore.knownDamage` says the same later.
  public var damageFound: (@Sendable (StoreFinding) -> Void)?
  /// Gives each event 16 random bytes, so that once it is erased nobody can guess its content from the hash that stays.
  /// It may be changed from one open to the next: an append with an id that is repeated is compared with what was
  /// recorded. Of an event that had a salt and is erased, stream and type are all that can be compared.
  public var saltsEvents = false
  /// Pads every block of every group to 4,096 bytes, for disks that may leave garbage in a sector that was being written.
  public var padsGroupsToPages = false
  /// How long an open waits for a lock that a reader is probing.
  public var lockTimeout: Duration = .milliseconds(200)
  /// A reader may go on with what comes before a damaged place, instead of refusing the store.
  public var readsDamaged = false
  /// How long what a reader finds beside a writer may be wrong before it is damage: that one may be opening the store.
  package var patience: Duration = .seconds(1)
  /// Everything that the writer does on disk is done before the next append, and nothing beside it: a simulated
  /// disk then sees the same calls in the same order each time.
  package var writesInStep = false

  public init() {}

  #if canImport(Darwin)
    private static let defaultPreallocationStep = 0
  #else
    private static let defaultPreallocationStep = 1 << 20
  #endif
}

extension StoreOptions {
  var sealsByItself: Bool { sealsInBackground && !writesInStep }

  /// The first limit of these options that the format does not allow, or nil.
  var problem: String? {
    if appendSizeMax > FormatLimits.rawLengthMax - AppendDraft.headLengthMax {
      return "appendSizeMax may be at most 64 MiB less the head of an append"
    }
    if blockSizeTarget > FormatLimits.rawLengthMax { return "blockSizeTarget may be at most 64 MiB" }
    if payloadSizeMax > appendSizeMax { return "payloadSizeMax may be at most appendSizeMax" }
    if segmentSizeTarget < 1 || blockSizeTarget < 1 || groupSizeMax < 1 || pendingBytesMax < 1 {
      return "sizes must be positive"
    }
    if preallocationStep < 0 { return "preallocationStep must not be negative" }
    if preallocationStep > Self.preallocationStepMax { return "preallocationStep may be at most 64 MiB" }
    return nil
  }
}
