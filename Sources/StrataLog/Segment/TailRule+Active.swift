// Applies the rule to the segment that an open finds active.

internal import StrataBase

extension TailRule {
  /// Applies the rule to the active segment. Unless the last close was clean, the file is synced and its cached pages
  /// are dropped first, because a failed sync may have left pages that claim to be on disk.
  static func assessActive(
    _ active: SegmentHandle, head: HeadSlot?, isWriter: Bool = false, readsDamaged: Bool = false
  ) throws(StoreError) -> TailAssessment {
    if head?.isClean != true || head?.segment != active.header.segment {
      do throws(StoreError) { try active.file.sync() } catch {
        // A writer is about to promise what it finds, so that must be on disk. If a reader may not sync, as on
        // read-only media, there is nothing unsynced.
        if isWriter { throw error }
      }
      active.file.dropCache()
    }
    let assessment = try assess(
      file: active.file, name: active.name, segment: active.header, head: head
    ) { block, _ in
      if !block.isControl { active.add(BlockAddress(block), end: block.end) }
    }
    switch assessment.state {
    case .unsupported(let finding) where !readsDamaged:
      throw .unsupported(finding)
    case .corrupt(let finding) where !readsDamaged:
      throw .damaged(finding)
    default:
      break
    }
    if let stale = assessment.staleHead, !readsDamaged { throw .damaged(stale) }
    return assessment
  }
}
