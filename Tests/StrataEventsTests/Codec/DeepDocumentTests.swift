// Documents that a program nests deeper than a stack: they are used, refused and released on a small one.

import Foundation
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct DeepDocumentTests {
  enum Shape: CaseIterable { case arrays, objects, tags, mixed, wide }

  private static let depth = 60_000
  /// Of the thread that works with these documents: much less than a program's threads have.
  private static let stackSize = 512 << 10

  /// A document of some depth, whose scalars are all different from those of another `mark`.
  private static func document(_ shape: Shape, depth: Int = depth, mark: Int = 0) -> DocumentValue {
    var value = DocumentValue.int(Int64(mark))
    for level in 0..<depth {
      switch shape {
      case .arrays: value = [value]
      case .objects: value = ["x": value]
      case .tags: value = .tagged(7, value)
      case .mixed:
        value = level % 3 == 0 ? .tagged(7, value) : level % 3 == 1 ? ["x": value, "y": [1]] : [1, value]
      // Each level twice, so that most of it is shared.
      case .wide: value = level % 2 == 0 ? [value, "s", value] : ["a": value, "b": value]
      }
    }
    return value
  }

  /// Runs the body on a thread with a small stack.
  private static func onSmallStack<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) throws
    -> Result
  {
    nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      result = Swift.Result { try body() }
      isDone.signal()
    }
    thread.stackSize = stackSize
    thread.start()
    isDone.wait()
    return try #require(result).get()
  }

  @Test(arguments: Shape.allCases)
  func `a document of any depth is released on a small stack`(shape: Shape) throws {
    try Self.onSmallStack {
      do { _ = Self.document(shape, depth: 3 * Self.depth) }
      // Parts that outlive the whole, and a part that another owner keeps.
      var whole = Self.document(shape)
      var parts = [whole]
      for _ in 0..<100 {
        guard let part = Self.content(of: parts[parts.count - 1]) else { break }
        parts.append(part)
      }
      whole = .null
      #expect(parts.count == 101)
      // Looking at each part of a document that has each level twice would take time that is exponential in the depth.
      if shape != .wide { #expect(parts[100].refusal == .tooDeep(Self.depth - 100)) }
      parts.removeFirst(50)
      parts.removeAll()
      #expect(whole == .null)
    }
  }

  private static func content(of value: DocumentValue) -> DocumentValue? {
    switch value {
    case .array(let values): values.last
    case .object(let object): object.first?.value
    case .tagged(_, let content): content.value
    default: nil
    }
  }

  @Test func `two threads that share a document release it at the same time`() throws {
    for shape in [Shape.arrays, .mixed] {
      nonisolated(unsafe) var shared: [DocumentValue] = []
      var part = Self.document(shape)
      while let next = Self.content(of: part) {
        shared.append(part)
        part = next
      }
      nonisolated(unsafe) var other = Array(shared.reversed())
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        if number == 0 { shared = [] } else { while other.popLast() != nil {} }
      }
    }
  }

  @Test(arguments: Shape.allCases)
  func `documents of any depth are compared, hashed, and written as JSON`(shape: Shape) throws {
    try Self.onSmallStack {
      // The text of a document that has each level twice is exponential in the depth, and so is a comparison.
      let depth = shape == .wide ? 9 : Self.depth
      let (a, b) = (Self.document(shape, depth: depth), Self.document(shape, depth: depth))
      let other = Self.document(shape, depth: depth, mark: 1)
      #expect(a == b && a != other)
      #expect(a.hashValue == b.hashValue && Set([a, b, other]).count == 2)
      if case .array(let a) = a, case .array(let b) = b { #expect(a == b && a.hashValue == b.hashValue) }
      if case .object(let a) = a, case .object(let b) = b { #expect(a == b && a.hashValue == b.hashValue) }
      if case .tagged(_, let a) = a, case .tagged(_, let b) = b {
        #expect(a == b && a.hashValue == b.hashValue)
      }
      #expect(a.depth == depth)
      let text = a.json()
      #expect("\(a)" == text && text.utf8.count > depth)
      if shape == .arrays {
        let lines = Self.document(shape, depth: 5_000).jsonBytes(.pretty).split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 10_001 && lines[5_000].count == 2 * CodecLimits.depthMax + 1)
        let brackets = String(repeating: "[", count: depth) + "0" + String(repeating: "]", count: depth)
        #expect(text == brackets)
      }
      if depth > CodecLimits.depthMax { #expect(throws: JSONError.self) { try DocumentValue(json: text) } }
    }
  }

  @Test func `merge patches of any depth are applied and found`() throws {
    try Self.onSmallStack {
      let depth = 20_000
      let (old, new) = (Self.document(.objects, depth: depth), Self.document(.objects, depth: depth, mark: 1))
      let patch = try #require(DocumentValue.mergePatch(from: old, to: new))
      #expect(patch == new)
      #expect(old.applying(mergePatch: patch) == new)
      #expect(DocumentValue.null.applying(mergePatch: new) == new)
      #expect(DocumentValue.mergePatch(from: old, to: old.applying(mergePatch: [:])) == [:])
      #expect(DocumentValue.mergePatch(from: [:], to: new) == new)
      var removing = DocumentValue.null
      for _ in 0..<depth { removing = ["x": removing] }
      #expect(DocumentValue.mergePatch(from: old, to: removing) == nil)
      #expect(old.applying(mergePatch: removing).depth == depth)
    }
  }

  @Test(arguments: [Shape.arrays, .objects, .tags, .mixed])
  func `what is nested too deep is refused with an error wherever it would be encoded`(shape: Shape)
    async throws
  {
    // A level less than the limit: a scalar in a tag is an object for encoders that know no tags.
    for depth in [CodecLimits.depthMax - 1, CodecLimits.depthMax + 1, Self.depth] {
      let value = Self.document(shape, depth: depth)
      let fits = depth < CodecLimits.depthMax
      #expect((value.refusal == nil) == fits)
      let store = EventStore.inMemory(clock: .fixed)
      if fits {
        #expect(try DocumentValue(encoding: value) == value)
        _ = try JSONEncoder().encode(value)
        try await store.append([NewEvent("t", in: "a/1", value)])
      } else {
        #expect(throws: EncodingError.self) { try DocumentValue(encoding: value) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([value]) }
        #expect(throws: DecodingError.self) { try value.decode([Int].self) }
        await #expect(throws: StoreError.self) { try await store.append([NewEvent("t", in: "a/1", value)]) }
      }
      try await store.close()
    }
  }

  // MARK: Arrays as collections

  @Test func `a value in which every level is shared equals itself, and copies of it, at once`() {
    var arrays = DocumentValue.null
    var mixed = DocumentValue.null
    for level in 0..<60 {
      arrays = .array([arrays, arrays])
      mixed = level % 2 == 0 ? ["a": mixed, "b": mixed] : [mixed, .tagged(7, mixed)]
    }
    for value in [arrays, mixed] {
      let (isSame, isOther) = (value == value, [value, 1] == ([value, 2] as DocumentValue))
      #expect(isSame && !isOther)
    }
  }

  @Test func `an array of a document does what a standard array does`() {
    var random = StrataSimulation.SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    for _ in 0..<500 {
      var (found, wanted) = (DocumentArray(), [DocumentValue]())
      var copies: [(DocumentArray, [DocumentValue])] = []
      for step in 0..<20 {
        let value: DocumentValue = [.int(Int64(step)), "\(step)", [.int(Int64(step))]].randomElement(
          using: &random)!
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
          found.append(value)
          wanted.append(value)
        case 2 where !wanted.isEmpty:
          let place = wanted.indices.randomElement(using: &random)!
          found[place] = value
          wanted[place] = value
        case 3:
          let ends = [
            Int.random(in: 0...wanted.count, using: &random),
            Int.random(in: 0...wanted.count, using: &random),
          ]
          let new = [DocumentValue](repeating: value, count: Int.random(in: 0...9, using: &random))
          found.replaceSubrange(ends.min()!..<ends.max()!, with: new)
          wanted.replaceSubrange(ends.min()!..<ends.max()!, with: new)
        case 4 where !wanted.isEmpty:
          #expect(found.removeFirst() == wanted.removeFirst())
        case 5:
          found += found
          wanted += wanted
        case 6:
          found.reserveCapacity(Int.random(in: 0...99, using: &random))
          copies.append((found, wanted))
        default: break
        }
        if wanted.count > 200 { break }
      }
      for (found, wanted) in copies + [(found, wanted)] {
        #expect(Array(found) == wanted && found == DocumentArray(wanted))
        #expect(
          DocumentValue.array(found) == .array(wanted)
            && found.description == DocumentValue.array(wanted).json())
      }
    }
  }
}
