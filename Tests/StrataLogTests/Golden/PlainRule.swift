// FORMAT.md's "Torn tail or corruption" and "What a check reports", for damage to a store that was right.

import StrataLog
import StrataSimulation

/// What a check must find, computed from what is known of the undamaged store and from which bytes are others now. No
/// code of the log's is asked: a block is valid where its bytes are the ones that were written, since every one of
/// them is under a checksum or must be zero.
struct PlainRule {
  typealias Place = GoldenAnswers.Place

  let store: PlainStore
  let files: [String: [UInt8]]
  let head: HeadSlot?
  private(set) var findings: [Place] = []
  /// For each segment that was looked at: where its valid blocks end.
  private(set) var validEnds: [SegmentName: PlainStore.End] = [:]

  /// - Parameter files: the store's files, each as it was, damaged, absent, or one of the store's other segments.
  /// - Parameter head: what HEAD says, where a slot of it is left.
  init(_ store: PlainStore, files: [String: [UInt8]], head: HeadSlot?) {
    self.store = store
    self.files = files
    self.head = head
    let firsts = Self.firsts(files)
    for (number, first) in firsts.enumerated() {
      let source = headerSource(first, isFirst: number == 0)
      if number == 0 {
        if let begin = head?.logBegin, begin < first.firstSequence {
          report("missing", SegmentName(begin), 0, begin, first.lastBefore)
        }
      } else if case .right(let segment) = source,
        segment.header.previousFirst != firsts[number - 1].firstSequence
      {
        let named = segment.header.previousFirst
        report("missing", SegmentName(named), 0, named, first.lastBefore)
      }
      let next = number + 1 < firsts.count ? firsts[number + 1] : nil
      switch source {
      case .wrong(let kind): report(kind, first, 0, first.firstSequence, first.lastBefore)
      case .right(let segment): check(segment, first, next: next)
      }
    }
    checkHead(firsts)
  }

  static func firsts(_ files: [String: [UInt8]]) -> [SegmentName] {
    files.keys.compactMap { path in
      path.hasPrefix("log/") ? SegmentName(fileName: String(path.dropFirst(4))) : nil
    }.sorted()
  }

  private mutating func report(
    _ kind: String, _ segment: SegmentName, _ offset: Int, _ first: UInt64, _ last: UInt64
  ) {
    report(kind, segment.path, offset, first, last)
  }

  private mutating func report(_ kind: String, _ file: String, _ offset: Int, _ first: UInt64, _ last: UInt64)
  {
    guard !findings.contains(where: { $0.file == file }) else { return }
    findings.append(
      Place(class: kind, file: file, offset: UInt64(offset), first: first, last: max(last, first - 1)))
  }

  private enum Source {
    case right(PlainStore.Segment)
    case wrong(String)
  }

  /// Whose header stands at the front of a file.
  private func headerSource(_ first: SegmentName, isFirst: Bool) -> Source {
    guard let bytes = files[first.path], bytes.count >= SegmentHeader.length else {
      return .wrong("corrupt")
    }
    let front = bytes.prefix(SegmentHeader.length)
    guard let segment = store.segments.values.first(where: { $0.bytes.prefix(SegmentHeader.length) == front })
    else {
      return .wrong("corrupt")
    }
    if !isFirst, segment.header.previousFirst == 0 { return .wrong("corrupt") }
    if segment.header.segment != first { return .wrong("misplaced") }
    return .right(segment)
  }

  // MARK: One segment

  private mutating func check(_ segment: PlainStore.Segment, _ first: SegmentName, next: SegmentName?) {
    let bytes = files[first.path] ?? []
    let intact = Self.prefixInCommon(bytes, segment.bytes)
    let x = segment.ends.last { $0.offset <= intact } ?? segment.ends[0]
    validEnds[first] = x
    let last = rangeEnd(segment, bytes, x, next: next)
    if next != nil || segment.isRewritten {
      if let kind = closed(segment, bytes, x, next: next) {
        report(kind, first, x.offset, x.nextSequence, last)
      }
      return
    }
    let named = head?.segment == first ? head : nil
    var promised = named.map { Int($0.durable.offset) } ?? 0
    for block in behind(segment, bytes, x) { promised = max(promised, Int(block.syncedThrough)) }
    let isBehindClean =
      named.map { $0.isClean && bytes.dropFirst(Int($0.durable.offset)).contains { $0 != 0 } } ?? false
    if promised > x.offset || isBehindClean {
      let isMissing = bytes.count <= x.offset && bytes.count < promised
      report(isMissing ? "missing" : "corrupt", first, x.offset, x.nextSequence, last)
    } else if bytes.dropFirst(x.offset).contains(where: { $0 != 0 }) {
      report("torn", first, x.offset, x.nextSequence, x.nextSequence - 1)
    }
  }

  /// How many bytes are the same from the front.
  private static func prefixInCommon(_ a: [UInt8], _ b: [UInt8]) -> Int {
    let count = min(a.count, b.count)
    return a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in (0..<count).first { a[$0] != b[$0] } ?? count }
    }
  }

  /// The class of what is wrong with a closed or rewritten segment, or nil.
  private func closed(
    _ segment: PlainStore.Segment, _ bytes: [UInt8], _ x: PlainStore.End, next: SegmentName?
  ) -> String? {
    if x.offset < bytes.count { return "corrupt" }
    if segment.isRewritten { return bytes.count < Int(segment.header.rewrittenEnd) ? "missing" : nil }
    guard let next, case .right(let following) = headerSource(next, isFirst: false),
      following.header.previousFirst == segment.header.firstSequence
    else { return nil }
    // A control block at the very end is missed by nobody.
    return x.nextSequence - 1 < following.header.previousLast ? "missing" : nil
  }

  /// The blocks at or behind X whose headers are as they were written.
  private func behind(
    _ segment: PlainStore.Segment, _ bytes: [UInt8], _ x: PlainStore.End
  ) -> [PlainStore.Block] {
    segment.blocks.filter { block in
      block.begin >= x.offset && block.headerEnd <= bytes.count && block.epoch >= x.epoch
        && bytes[block.begin..<block.headerEnd] == segment.bytes[block.begin..<block.headerEnd]
    }
  }

  private func rangeEnd(
    _ segment: PlainStore.Segment, _ bytes: [UInt8], _ x: PlainStore.End, next: SegmentName?
  ) -> UInt64 {
    if let next { return next.lastBefore }
    var last = x.nextSequence - 1
    if let head, head.segment == segment.header.segment {
      last = max(last, head.visible.sequence, head.durable.sequence)
    }
    if segment.isRewritten { last = max(last, segment.header.rewrittenLast) }
    for block in behind(segment, bytes, x) { last = max(last, block.last) }
    return last
  }

  // MARK: HEAD

  private mutating func checkHead(_ firsts: [SegmentName]) {
    guard let head else { return }
    guard firsts.contains(head.segment) else {
      return report("missing", head.segment, 0, head.segment.firstSequence, head.durable.sequence)
    }
    guard let segment = store.segments[head.segment], !segment.isRewritten, let x = validEnds[head.segment],
      head.durable.offset <= UInt64(x.offset)
    else { return }
    let isThere = segment.ends.contains {
      UInt64($0.offset) == head.durable.offset && $0.nextSequence - 1 == head.durable.sequence
        && $0.chain == head.durable.chain
    }
    if !isThere {
      report(
        "stale", StoreLayout.headName, 0, x.nextSequence, max(head.visible.sequence, head.durable.sequence))
    }
  }
}

extension GoldenAnswers.Place {
  init(class kind: String, file: String, offset: UInt64, first: UInt64, last: UInt64) {
    self.class = kind
    self.file = file
    self.offset = offset
    self.first = first
    self.last = last
  }
}
