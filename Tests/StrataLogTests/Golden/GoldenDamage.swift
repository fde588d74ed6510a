// Every way in which a kept store is damaged: each bit, each length, each file.

import StrataLog
import StrataSimulation

/// One damaged copy of a kept store.
struct GoldenDamage: CustomStringConvertible {
  enum Edit {
    case flip(String, bit: Int)
    case cut(String, length: Int)
    case zero(String, from: Int)
    case remove(String)
    case swap(String, String)
    /// A file of this store under another one's name.
    case copy(String, to: String)
  }

  var head: PlainStore.Head
  var edits: [Edit]

  var description: String { "\(edits) under \(head)" }

  /// The files of the damaged copy. HEAD is put there before anything is damaged.
  func files(of store: PlainStore) -> [String: [UInt8]] {
    var files = store.files
    files[StoreLayout.headName] = head.bytes
    for edit in edits {
      switch edit {
      case .flip(let path, let bit): files[path]?[bit / 8] ^= 1 << UInt8(bit % 8)
      case .cut(let path, let length): files[path] = files[path].map { Array($0.prefix(length)) }
      case .zero(let path, let from):
        files[path] = files[path].map { $0.prefix(from) + Array(repeating: 0, count: $0.count - from) }
      case .remove(let path): files[path] = nil
      case .swap(let a, let b): (files[a], files[b]) = (files[b], files[a])
      case .copy(let path, let other): files[other] = files[path]
      }
    }
    return files
  }

  /// What HEAD says after the damage: the newer of the slots whose bytes are as they were.
  func slot(in files: [String: [UInt8]]) -> HeadSlot? {
    guard let bytes = files[StoreLayout.headName], let written = head.bytes else { return nil }
    let slots = [head.older, head.slot]
    var newest: HeadSlot?
    for (offset, slot) in zip(HeadSlot.offsets, slots) where bytes.count >= offset + HeadSlot.length {
      let range = offset..<offset + HeadSlot.length
      guard let slot, bytes[range] == written[range] else { continue }
      if slot.generation > newest?.generation ?? 0 { newest = slot }
    }
    return newest
  }

  /// The same in a line of JSON for the second reader.
  func json(_ store: String) -> String {
    func quoted(_ path: String) -> String { "\"\(path)\"" }
    var list: [String] = []
    for edit in edits {
      switch edit {
      case .flip(let path, let bit): list.append("[\"flip\",\(quoted(path)),\(bit)]")
      case .cut(let path, let length): list.append("[\"cut\",\(quoted(path)),\(length)]")
      case .zero(let path, let from): list.append("[\"zero\",\(quoted(path)),\(from),-1]")
      case .remove(let path): list.append("[\"remove\",\(quoted(path))]")
      case .swap(let a, let b): list.append("[\"swap\",\(quoted(a)),\(quoted(b))]")
      case .copy(let path, let other): list.append("[\"copy\",\(quoted(path)),\(quoted(other))]")
      }
    }
    let head = head.bytes.map { bytes in
      let parts = stride(from: 0, to: bytes.count, by: 64).compactMap { at -> String? in
        let part = bytes[at..<at + 64]
        guard part.contains(where: { $0 != 0 }) else { return nil }
        return "[\(at),\"\(part.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())\"]"
      }
      return "[\(parts.joined(separator: ","))]"
    }
    return "{\"store\":\"\(store)\",\"head\":\(head ?? "null"),\"edits\":[\(list.joined(separator: ","))]}"
  }
}

extension GoldenDamage {
  /// Every damage of a kind to a store, in a fixed order; of them all every `step`th.
  ///
  /// - Parameter underEveryHead: flips every bit under each HEAD. Otherwise every bit under none and under the last ones,
  ///   and one bit of every byte under the others.
  static func each(
    of store: PlainStore, step: Int, underEveryHead: Bool, _ body: (GoldenDamage) throws -> Void
  ) rethrows {
    let heads = store.heads()
    var count = 0
    func give(_ head: PlainStore.Head, _ edits: Edit..., every step: Int = step) throws {
      count += 1
      if count % step == 0 { try body(GoldenDamage(head: head, edits: edits)) }
    }
    // There are few ways to damage whole files.
    let fewer = max(1, step / 100)
    let settled = heads.last!
    let paths = store.firsts.map(\.path)
    for path in paths {
      let length = store.files[path]!.count
      // A header is right or not, whatever HEAD says.
      for bit in 0..<SegmentHeader.length * 8 { try give(settled, .flip(path, bit: bit)) }
      for cut in 0..<SegmentHeader.length { try give(settled, .cut(path, length: cut)) }
      for (age, head) in heads.enumerated() {
        let isEvery = underEveryHead || age == 0 || age >= heads.count - 2
        for bit in SegmentHeader.length * 8..<length * 8 where isEvery || bit % 8 == bit / 8 % 8 {
          try give(head, .flip(path, bit: bit))
        }
        for cut in SegmentHeader.length...length {
          try give(head, .cut(path, length: cut))
          try give(head, .zero(path, from: cut))
        }
      }
    }
    for head in heads {
      if let bytes = head.bytes {
        let name = StoreLayout.headName
        let isLast = head.slot?.isClean == true
        for offset in HeadSlot.offsets {
          // The reserved bytes of one HEAD stand for those of all.
          for bit in offset * 8..<(offset + (isLast ? HeadSlot.length : 128)) * 8 {
            try give(head, .flip(name, bit: bit))
          }
        }
        for cut in stride(from: 0, to: bytes.count, by: isLast ? 1 : 64) {
          try give(head, .cut(name, length: cut))
        }
      }
      for path in paths {
        try give(head, .remove(path), every: fewer)
        for other in paths where other != path {
          try give(head, .remove(path), .remove(other), every: fewer)
          try give(head, .copy(path, to: other), every: fewer)
          if path < other { try give(head, .swap(path, other), every: fewer) }
        }
        for bit in [0, SegmentHeader.length * 8 + 9] where bit < store.files[path]!.count * 8 {
          for other in paths where other != path {
            try give(head, .flip(path, bit: bit), .remove(other), every: fewer)
          }
        }
        try give(
          head, .copy(path, to: SegmentName(store.firsts.last!.firstSequence + 1_000).path), every: fewer)
      }
    }
  }
}
