// A pattern as the instructions of a nondeterministic automaton.

/// The automaton of a pattern (K. Thompson, Regular expression search algorithm, 1968), one state for each
/// instruction.
struct PatternProgram: Sendable {
  enum Instruction: Sendable {
    /// Takes a scalar of a set and goes on after it.
    case set(Int)
    /// Goes on at both.
    case split(Int, Int)
    case jump(Int)
    /// Goes on where this holds.
    case assertion(PatternTree.Assertion)
    case match
  }

  private(set) var instructions: [Instruction] = []
  let alphabet: PatternAlphabet
  /// For each set, whether each class of the alphabet is in it, one set after the other.
  let members: [Bool]
  /// Whether each class of the alphabet is of a word; empty if nothing asks.
  let words: [Bool]
  /// Whether something asks for the beginning of the text.
  let hasStart: Bool

  /// - Parameter isWhole: whether the pattern has to match the whole text, and not a part of it.
  init(_ tree: PatternTree, isWhole: Bool) {
    var (asksForWords, asksForStart) = (false, false)
    for case .assertion(let assertion) in tree.nodes {
      if assertion == .start { asksForStart = true }
      if assertion == .wordBoundary || assertion == .noWordBoundary { asksForWords = true }
    }
    var sets = tree.sets
    if !isWhole { sets.append(.all) }
    alphabet = PatternAlphabet(asksForWords ? sets + [.word] : sets)
    members = sets.flatMap { [alphabet] in alphabet.membership(in: $0) }
    words = asksForWords ? alphabet.membership(in: .word) : []
    hasStart = asksForStart || asksForWords
    if !isWhole { instructions = [.split(3, 1), .set(tree.sets.count), .jump(0)] }
    emit(tree.root, of: tree)
    if isWhole { instructions.append(.assertion(.end)) }
    instructions.append(.match)
  }

  func holds(_ set: Int, _ number: Int) -> Bool { members[set * alphabet.count + number] }

  /// Appends the instructions of a node. The recursion is as deep as groups are nested, which is limited.
  private mutating func emit(_ node: Int, of tree: PatternTree) {
    switch tree.nodes[node] {
    case .set(let set): instructions.append(.set(set))
    case .assertion(let assertion): instructions.append(.assertion(assertion))
    case .sequence(let parts): for part in parts { emit(part, of: tree) }
    case .choice(let parts):
      var ends: [Int] = []
      for part in parts.dropLast() {
        let split = reserve()
        emit(part, of: tree)
        ends.append(reserve())
        instructions[split] = .split(split + 1, instructions.count)
      }
      emit(parts[parts.count - 1], of: tree)
      for end in ends { instructions[end] = .jump(instructions.count) }
    case .repetition(let part, let least, let most):
      var start = instructions.count
      for _ in 0..<least {
        start = instructions.count
        emit(part, of: tree)
      }
      if let most {
        var splits: [Int] = []
        for _ in least..<most {
          splits.append(reserve())
          emit(part, of: tree)
        }
        for split in splits { instructions[split] = .split(split + 1, instructions.count) }
      } else if least > 0 {
        instructions.append(.split(start, instructions.count + 1))
      } else {
        let split = reserve()
        emit(part, of: tree)
        instructions.append(.jump(split))
        instructions[split] = .split(split + 1, instructions.count)
      }
    }
  }

  /// Appends an instruction that is known later.
  private mutating func reserve() -> Int {
    instructions.append(.match)
    return instructions.count - 1
  }
}
