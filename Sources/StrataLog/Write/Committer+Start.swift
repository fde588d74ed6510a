// What a writer begins with.

extension Committer {
  /// What the open found and made.
  struct Start {
    var layout: StoreLayout
    var fileSystem: any FileSystem
    var options: StoreOptions
    var lock: StoreLock
    var head: HeadFile
    var active: SegmentHandle
    var link: BlockLink
    /// The length of the active segment's file.
    var fileSize: UInt64
    var epoch: UInt64
    var isTorn: Bool
    var logBegin: UInt64
    var isErasing: Bool
    /// Whether no earlier writer can write to the active segment's file any more.
    var isSettled: Bool
  }
}
