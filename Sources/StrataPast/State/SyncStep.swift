// How much of a derived file is written and synced at a time.

/// The length of the next step, in bytes.
///
/// A sync of the log waits for what the disk is busy with. Beside a checkpoint of 18 MB in steps of 4 MiB, the slowest
/// hundredth of synced appends took 5 to 8 times as long as without one. Beside one of 150 MB in steps of 32, 24 and
/// 16 KiB they took 2.0, 1.8 and 1.6 times as long, and the checkpoint 2.2, 2.7 and 3.7 s. So steps are short while the
/// log is synced, and grow while it is not.
struct SyncStep {
  static let lengthMin = 24 << 10
  static let lengthMax = 4 << 20

  private(set) var length = Self.lengthMin
  /// The last event that was durable at the end of the last step.
  private var durable: UInt64?

  /// Ends a step.
  ///
  /// - Parameter durable: the last event of the log that is durable.
  mutating func end(durable: UInt64) {
    length = durable == self.durable ? min(2 * length, Self.lengthMax) : Self.lengthMin
    self.durable = durable
  }
}
