// The options and limits of a log, each with a name.

internal import StrataBase

/// How durable an append is when it is acknowledged.
public enum Durability: UInt32, Sendable, CaseIterable {
  /// On disk, and HEAD too: after a power cut even the loss of the whole tail is detected.
  case paranoid = 1
  /// On disk. The default.
  case synced = 2
  /// Handed to the system, and on disk within `headSyncInterval`: survives the end of the process, not a power cut.
  case buffered = 3
}

/// The source of commit times.
public struct StoreClock: Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  public var now: @Sendable () -> Int64

  public init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// The system's wall clock.
  public static let system = StoreClock { systemNanoseconds() }

  /// A clock for tests: starts at 2026-01-01T00:00:00Z, and advances one second at each call.
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

/// The options and limits of an open store. The defaults suit most applications.
public struct StoreOptions: Sendable {
  public var durability: Durability = .synced
  /// The source of commit times.
  public var clock: StoreClock {
    get { machine.clock }
    set { machine.clock = newValue }
  }
  /// The threads and the clock of the store.
  package var machine: StoreMachine = .process
  /// The length in bytes at which a segment is closed.
  public var segmentSizeTarget = 16 << 20
  /// Appends are gathered into blocks of about this many bytes before compression.
  package var blockSizeTarget = 64 << 10
  /// The largest group, in bytes before compression, approximately. One group is written with one sync.
  package var groupSizeMax = 4 << 20
  /// The largest append, encoded, in bytes; an event whose erased form is longer counts with that length.
  public var appendSizeMax = 16 << 20
  /// The largest payload of one event, in bytes.
  public var payloadSizeMax = 16 << 20
  /// The largest metadata of one event, encoded, in bytes.
  public var metadataSizeMax = 64 << 10
  /// The most events in one append.
  public var appendEventsMax = 1 << 20
  /// The most bytes that may wait for the committer; beyond that, callers wait before they submit anything.
  public var pendingBytesMax = 32 << 20
  /// While groups are small, the active segment is extended with written zeros in steps of this many bytes: a sync then
  /// has no new length to record, which may halve its time. The zeros are cut off when a segment is closed, and by
  /// `close`. 0 turns this off; that is the default on Apple's systems, because their file systems never write in
  /// place. Nothing is extended if `durability` is `buffered`.
  package var preallocationStep = StoreOptions.defaultPreallocationStep
  /// The largest `preallocationStep`, in bytes: a step is written in one piece, and an append may arrive meanwhile.
  package static let preallocationStepMax = 64 << 20
  /// HEAD is synced at least this often while there is something to sync.
  package var headSyncInterval: Duration = .seconds(1)
  /// Whether a background thread rewrites closed segments: larger blocks, compressed harder, with an index.
  public var sealsInBackground = true
  /// Called when the background thread finds a segment whose bytes are not those that were written: it reads each
  /// segment whole, which otherwise may not happen for years. Called on that thread, which waits for it to return, once
  /// for each segment while the store is open. It must not close or suspend the store, which wait for that thread: start
  /// a task for it. `EventStore.knownDamage` reports the same findings later.
  public var damageFound: (@Sendable (StoreFinding) -> Void)?
  /// Receives what the store does, on a thread of its own: see `StoreObserver`. Without one, nothing is collected for it
  /// but counters, and no clock is read for it.
  public var observer: (any StoreObserver)?
  /// A sync that takes at least this long is an activity of its own, while somebody observes: see `StoreActivity.slowSync`.
  public var slowSyncMin: Duration = .milliseconds(500)
  /// Gives each event 16 random bytes, so that after it is erased its content cannot be guessed from the hash that
  /// remains. May change from one open to the next: a repeated append with an id is compared with what was recorded. Of
  /// an event that had a salt and was erased, only stream and type can be compared.
  public var saltsEvents = false
  /// Pads every block of every group to 4,096 bytes, for disks that may leave garbage in a sector that was being
  /// written.
  public var padsGroupsToPages = false
  /// How long an open for writing, a `resume` and a backup into an existing folder wait for the lock: until another
  /// writer closes or suspends the store, or its process ends. After that they throw `StoreError.locked`, which says who
  /// has the lock and since when. The default is enough for a reader's probe, which takes the lock for a moment. Zero
  /// tries once.
  ///
  /// Processes that share a store open it for each job and close it, with a timeout longer than a job. The lock is asked
  /// for again and again, up to fifteen times a second, so that no order holds among those that wait. An open and a
  /// `resume` that are `async` hold no thread while they wait, and end with `CancellationError` as soon as their task
  /// is cancelled. `backup(to:)` waits on the thread that it has for its work, and a cancellation does not end it.
  public var lockTimeout: Duration = .milliseconds(200)
  /// Lets a reader serve the events before a damaged position instead of refusing the store.
  public var readsDamaged = false
  /// How long a finding of a reader beside a writer must persist before it counts as damage: the writer may just be
  /// opening the store.
  package var patience: Duration = .seconds(1)
  /// Makes the writer finish all its disk operations before the next append, with none running concurrently: a
  /// simulated disk then sees the same calls in the same order each time.
  package var writesInStep = false
  /// Whether the tables of projections are saved in the store's folder, so that opening it again need not fold the log
  /// from its beginning. What is saved can be deleted at any time: nothing but time is lost.
  public var savesStates = true
  /// Whether a process that opened the store for reading saves tables, too: those of projections that the writer does
  /// not fold, and where it may write to the store's folder. One such process at a time saves tables of a projection; the
  /// others begin with them, and their `saveError` in `EventStore.projections` says that they save nothing. Without this
  /// option, such a process folds them again each time it starts, and writes nothing at all.
  public var readersSaveStates = true
  /// The most bytes that the store keeps in memory of what it read of saved tables and of histories; what is beyond that is
  /// read again from its files when it is needed. Rows that are not saved yet come on top, also up to four times as many
  /// bytes of those that only the making of a history has, once as many of those that only states of the past have, and for
  /// each page of 4 KiB that was looked into some hundred bytes that say where it is. Of each run of a history that was read,
  /// the filter of its rows, the parts of its directories that were looked into, and its sections come on top too.
  /// Without `savesStates`, everything is in memory.
  ///
  /// What they leave of the bound, and at least a quarter of it, is for blocks of the log of which single events or streams
  /// are read; what is more than that, since tables were read meanwhile, is dropped by the next such reads. A block that is read twice stays in memory, compressed in short parts, and of what is read often
  /// the parts stay decoded. So reads anywhere in a log are fast as long as about a fifth of its events' bytes fit. A
  /// feed and a fold need none of it. With 0, each read of an event decodes its block again.
  public var pageCacheSize = 64 << 20
  /// The time that a view may take of a step of the folding; one that takes more leaves it, and catches up beside it.
  package var viewBudget: Duration = .milliseconds(10)
  /// When a fold reads blocks on another thread.
  package var readAhead = ReadAheadLimits()
  /// A fold looks after that many events whether much of its state is in memory only.
  package var foldedStepLength: UInt64 = 131_072
  /// A state is saved while it is folded if new rows take more than four times that many bytes, or events sixteen times
  /// as many; nil for `pageCacheSize`. The fold of a history moves pages to a file beyond that many bytes of them; nil
  /// for four times `pageCacheSize`. So do states of the past beyond that many bytes of all of them together; nil for
  /// `pageCacheSize`.
  package var unsavedSize: Int?
  /// Where a process that only reads puts what is too much for memory of states of the past, in files without a name; nil
  /// if it stays in memory. A writer has the store's folder for it.
  package var pastFolder: String?
  /// A state is saved if folding what is not in it takes at least this long.
  package var savedFoldingMin: Duration = .milliseconds(50)
  /// Whether states and histories are used that another build of the program saved under the same version. Not while a
  /// program is being developed: its author expects to see what the code makes now.
  package var usesStatesOfOtherBuilds = StoreOptions.isReleaseBuild
  /// How long no state is saved after the disk was full, unless the program asks for it.
  package var fullDiskPause: Duration = .seconds(300)
  /// How long a close folds what was appended last, before it saves a state.
  package var closeFoldingMax: Duration = .seconds(2)
  /// A close saves the index of the active segment if at least this many of its events are in none.
  package var savedIndexEventsMin = StoreOptions.savedIndexEventsMinDefault
  /// An open reads that many events in about half a millisecond.
  package static let savedIndexEventsMinDefault = 4096
  private var groups: [ObjectIdentifier: any StoreOptionGroup] = [:]

  public init() {}

  #if DEBUG
    private static let isReleaseBuild = false
  #else
    private static let isReleaseBuild = true
  #endif

  #if canImport(Darwin)
    private static let defaultPreallocationStep = 0
  #else
    private static let defaultPreallocationStep = 1 << 20
  #endif
}

/// The options of another module, which are part of `StoreOptions` without being known here.
package protocol StoreOptionGroup: Sendable {
  /// The defaults.
  init()
}

extension StoreOptions {
  /// The options of another module: its own extensions of `StoreOptions` give them names.
  package subscript<Group: StoreOptionGroup>(type: Group.Type) -> Group {
    get { groups[ObjectIdentifier(type)] as? Group ?? Group() }
    set { groups[ObjectIdentifier(type)] = newValue }
  }

  var sealsByItself: Bool { sealsInBackground && !writesInStep }

  /// The first limit of these options that the format does not allow, or nil.
  var problem: String? {
    if appendSizeMax > FormatLimits.rawLengthMax - AppendDraft.headLengthMax {
      return "appendSizeMax may be at most 64 MiB minus the head of an append"
    }
    if blockSizeTarget > FormatLimits.rawLengthMax { return "blockSizeTarget may be at most 64 MiB" }
    if payloadSizeMax > appendSizeMax { return "payloadSizeMax may be at most appendSizeMax" }
    if segmentSizeTarget < 1 || blockSizeTarget < 1 || groupSizeMax < 1 || pendingBytesMax < 1 {
      return "sizes must be positive"
    }
    if pageCacheSize < 0 { return "pageCacheSize must not be negative" }
    if preallocationStep < 0 { return "preallocationStep must not be negative" }
    if preallocationStep > Self.preallocationStepMax { return "preallocationStep may be at most 64 MiB" }
    return nil
  }
}

/// When blocks are read ahead, and how many.
package struct ReadAheadLimits: Sendable {
  /// Work on fewer events than these reads its blocks itself.
  package var eventCountMin: UInt64 = 65_536
  /// The other thread hands blocks over when they have that many bytes together.
  package var byteCount = 256 << 10
  /// Below this number of processors nothing is read ahead.
  package var processorCountMin = 2

  package init() {}
}
