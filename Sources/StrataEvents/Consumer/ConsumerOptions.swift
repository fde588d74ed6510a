// What a consumer receives, when it saves its position, and what it does after an error.

/// What a consumer does with an append that its handler has refused for good.
public enum ConsumerFailurePolicy: Sendable, Hashable {
  /// It stops before the append: `run` throws the handler's error. The next run begins with the same append.
  case halt
  /// It records the append and the error, and goes on with the next one.
  case setAside
}

/// How a consumer works.
public struct ConsumerOptions: Sendable {
  /// The events that the handler receives. Streams whose names begin with `$` are left out by default.
  public var selection = EventSelection.all
  /// Where a consumer begins that has no position in the store yet. If that is the head, its first run saves it.
  public var start = LogPoint.beginning
  /// How many appends are handled without effects in the store before the position is saved; at least 1. A consumer that
  /// is killed receives at most that many a second time.
  public var saveCount = 100
  /// The effects of how many appends at most become one append, together with the position; 1 appends those of each on
  /// their own. Each append costs a sync of the disk, so a consumer with effects keeps up with busy writers by a batch,
  /// such as 256.
  ///
  /// Nothing waits for a batch to fill: it has what is in the log already. If the handler throws, or an expectation is
  /// not met, nothing of the batch is appended, and the handler receives each of its appends again, on its own. Until a
  /// batch is appended, the store does not have its effects: a handler that reads what it has written itself needs
  /// batches of 1, or has to expect a version. ``EventStore/cause(of:)`` finds the append that led to an effect.
  public var batchCount = 1
  /// After what time a position that is not saved yet is saved, however few appends were handled.
  public var saveInterval = Duration.seconds(5)
  /// How often the handler is tried again with the same append, before the policy applies.
  public var retryCount = 3
  /// The pause before the first retry. Each one after it is twice as long, up to a minute, or to this pause if it is
  /// longer.
  public var retryDelay = Duration.seconds(1)
  /// What happens when the retries are used up.
  public var onFailure = ConsumerFailurePolicy.halt

  public init() {}

  /// The longest pause before a retry.
  static let retryDelayMax = Duration.seconds(60)
}
