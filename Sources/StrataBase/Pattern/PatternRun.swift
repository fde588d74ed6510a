// What one thread needs to match a pattern: the states of a deterministic automaton, made as texts need them.

/// The subset construction, lazily. A state is the set of instructions at which the nondeterministic automaton may be
/// before the next scalar, and what was before. What is made of it is kept up to a limit, and then made again: a text
/// is matched in O(text · states of the pattern) whatever it is, and in O(text) once the states are there.
///
/// Used by one thread at a time.
final class PatternRun {
  /// What is before a state's next scalar, as far as the pattern asks.
  private enum Before: UInt8 { case nothing, other, word }

  private struct State: Hashable {
    var before: Before
    /// The instructions, ascending: those that take a scalar, and what leads to them.
    var instructions: [Int32]
  }

  /// The states that decide, which have no instructions.
  private static let failed: Int32 = 0
  private static let matched: Int32 = 1
  private static let unknown: Int32 = -1
  /// The most entries of the table, unless a few states need more.
  private static let entryCountMax = 1 << 16
  private static let stateCountMin = 8
  /// The most instructions that the states hold.
  private static let instructionCountMax = 1 << 18

  private let program: PatternProgram
  /// The classes of scalars, and the end of the text.
  private let width: Int
  /// For each state and class, the next state.
  private let table: UnsafeMutablePointer<Int32>
  private let stateCountMax: Int
  private var states: [State] = []
  private var numbers: [State: Int32] = [:]
  private var instructionCount = 0
  private var start: Int32 = 0

  /// The number of the step in which each instruction was visited last, and of the step that is made.
  private var visited: [UInt32]
  private var round: UInt32 = 0
  private var pending: [Int32] = []

  /// The number of instructions that were visited.
  private(set) var stepCount = 0

  init(_ program: PatternProgram) {
    self.program = program
    width = program.alphabet.count + 1
    stateCountMax = max(Self.entryCountMax / width, Self.stateCountMin)
    table = .allocate(capacity: stateCountMax * width)
    visited = [UInt32](repeating: 0, count: program.instructions.count)
    begin()
  }

  deinit { table.deallocate() }

  /// Forgets all states but those that decide, and where a text begins.
  private func begin() {
    states = []
    numbers = [:]
    instructionCount = 0
    for before in [Before.nothing, .nothing] { states.append(State(before: before, instructions: [])) }
    start = number(of: State(before: program.hasStart ? .nothing : .other, instructions: [0]))
  }

  /// The number of a state, which is made if it is new. Needs room.
  private func number(of state: State) -> Int32 {
    if let number = numbers[state] { return number }
    let number = Int32(states.count)
    states.append(state)
    numbers[state] = number
    instructionCount += state.instructions.count
    (table + Int(number) * width).initialize(repeating: Self.unknown, count: width)
    return number
  }

  /// Whether the pattern matches UTF-8.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    let alphabet = program.alphabet
    let width = width
    return alphabet.ascii.withUnsafeBufferPointer { ascii in
      var state = start
      var index = 0
      while index < text.count {
        let byte = text[index]
        let number: Int
        if byte < 0x80 {
          number = Int(ascii[Int(byte)])
          index &+= 1
        } else {
          number = alphabet.number(of: UTF8Scalars.next(text, &index))
        }
        var next = table[Int(state) &* width &+ number]
        if next == Self.unknown { next = step(from: state, number) }
        if next <= Self.matched { return next == Self.matched }
        state = next
      }
      var last = table[Int(state) &* width &+ width &- 1]
      if last == Self.unknown { last = step(from: state, width - 1) }
      return last == Self.matched
    }
  }

  /// Makes the state after a class of scalars, or after the end of the text.
  private func step(from state: Int32, _ number: Int) -> Int32 {
    let found = target(of: states[Int(state)], number)
    let entry = Int(state) * width + number
    guard let instructions = found else {
      table[entry] = Self.matched
      return Self.matched
    }
    guard !instructions.isEmpty else {
      table[entry] = Self.failed
      return Self.failed
    }
    let before: Before = !program.words.isEmpty && program.words[number] ? .word : .other
    let next = State(before: before, instructions: instructions.sorted())
    if numbers[next] == nil,
      states.count == stateCountMax || instructionCount + instructions.count > Self.instructionCountMax
    {
      begin()
      return self.number(of: next)
    }
    table[entry] = self.number(of: next)
    return table[entry]
  }

  /// The instructions after those of a state that take a class of scalars; nil if the pattern has matched before it.
  /// Each instruction is visited once, however many ways lead to it.
  private func target(of state: State, _ number: Int) -> [Int32]? {
    if round == .max {
      for index in visited.indices { visited[index] = 0 }
      round = 0
    }
    round += 1
    var next: [Int32] = []
    for instruction in state.instructions {
      pending.append(instruction)
      while let instruction = pending.popLast() {
        guard visited[Int(instruction)] != round else { continue }
        visited[Int(instruction)] = round
        stepCount += 1
        switch program.instructions[Int(instruction)] {
        case .match:
          pending.removeAll(keepingCapacity: true)
          return nil
        case .jump(let target): pending.append(Int32(target))
        case .split(let first, let second):
          pending.append(Int32(second))
          pending.append(Int32(first))
        case .assertion(let assertion):
          if holds(assertion, state.before, number) { pending.append(instruction + 1) }
        case .set(let set):
          if number < width - 1, program.holds(set, number) { next.append(instruction + 1) }
        }
      }
    }
    return next
  }

  private func holds(_ assertion: PatternTree.Assertion, _ before: Before, _ number: Int) -> Bool {
    let isEnd = number == width - 1
    switch assertion {
    case .start: return before == .nothing
    case .end: return isEnd
    case .wordBoundary: return (before == .word) != (!isEnd && program.words[number])
    case .noWordBoundary: return (before == .word) == (!isEnd && program.words[number])
    }
  }
}
