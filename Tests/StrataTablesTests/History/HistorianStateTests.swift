// The state of a historian as a value: its tables.

@testable internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct HistorianStateTests {
  private static let none = RunSet(noneOf: SegmentErasures([]), head: 0)

  private typealias Files = HistorianState.Files

  /// What each transition makes of the files, from what they are after some others.
  private static let table: [(reached: String, Files, damaged: Files, published: Files, erased: Files)] = [
    ("", .sound, damaged: .damaged, published: .sound, erased: .sound),
    ("d", .damaged, damaged: .givenUp, published: .madeAgain, erased: .sound),
    ("dp", .madeAgain, damaged: .givenUp, published: .madeAgain, erased: .sound),
    ("dpd", .givenUp, damaged: .givenUp, published: .givenUp, erased: .sound),
    ("dd", .givenUp, damaged: .givenUp, published: .givenUp, erased: .sound),
    ("dpe", .sound, damaged: .damaged, published: .sound, erased: .sound),
  ]

  private static func state(after transitions: String) -> HistorianState {
    var state = HistorianState()
    for transition in transitions {
      switch transition {
      case "d": state.noteDamage()
      case "p": state.publish(Self.none, of: state.generation)
      default: state.noteErased()
      }
    }
    return state
  }

  @Test func `what is known of the files follows the table`() {
    for (reached, files, damaged, published, erased) in Self.table {
      let state = Self.state(after: reached)
      #expect(state.files == files, "\(reached)")
      #expect(state.isGivenUp == (files == .givenUp))
      #expect(state.isDamaged == (files == .damaged || files == .givenUp))
      for (transition, expected) in [("d", damaged), ("p", published), ("e", erased)] {
        #expect(Self.state(after: reached + transition).files == expected, "\(reached)\(transition)")
      }
    }
  }

  @Test func `nothing is published that was made in another generation`() {
    for change in [{ $0.noteDamage() }, { $0.forget() }] as [(inout HistorianState) -> Void] {
      var state = HistorianState()
      let made = state.generation
      var isMade = state.publish(reached: 7, of: made)
      #expect(isMade)
      #expect(state.reached == 7)
      change(&state)
      #expect(state.generation > made && state.reached == 0)
      let files = state.files
      state.publish(Self.none, of: made)
      isMade = state.publish(reached: 9, of: made)
      #expect(!isMade)
      #expect(state.reached == 0)
      #expect(state.files == files)
    }
  }

  @Test func `one thread has the turn, and none begins one while the work is stopped`() {
    var state = HistorianState()
    var isMade = state.takeTurn()
    #expect(isMade)
    isMade = state.takeTurn()
    #expect(!isMade)
    state.endTurn()
    isMade = state.start(through: 1, isSuspended: true)
    #expect(!isMade)
    #expect(state.isWanted)
    // Two calls stop it, and the first of them lets it go on while the other does not.
    state.stop()
    state.stop()
    isMade = state.start(through: 1, isSuspended: false)
    #expect(!isMade)
    state.mayGoOn()
    isMade = state.start(through: 1, isSuspended: false)
    #expect(!isMade)
    // Who stops it has a turn of its own.
    isMade = state.takeTurn()
    #expect(isMade)
    state.endTurn()
    state.mayGoOn()
    isMade = state.start(through: 1, isSuspended: false)
    #expect(isMade)
    #expect(state.isRunning)
    isMade = state.start(through: 1, isSuspended: false)
    #expect(!isMade)
    state.endTurn()
    // There is something to do as long as there are events, or lists whose keys may be lacking.
    state.mayLackKeys = false
    isMade = state.publish(reached: 5, of: state.generation)
    #expect(isMade)
    isMade = state.start(through: 5, isSuspended: false)
    #expect(!isMade)
    isMade = state.start(through: 6, isSuspended: false)
    #expect(isMade)
    state.endTurn()
    state.noteDamage()
    state.noteDamage()
    isMade = state.start(through: 6, isSuspended: false)
    #expect(!isMade)
  }

  @Test func `a list that was left out is kept again once there are no runs with other keys of it`() {
    let definition = StateKeptViewTests.definition("kept", .count, calls: .keys)
    var state = HistorianState()
    state.mayLackKeys = false
    state.keep(definition, of: "b")
    #expect(state.mayLackKeys && state.keptLists.map(\.number) == state.lists.map(\.number))
    state.leaveOut(state.lists[0])
    #expect(state.keptLists.isEmpty && state.lists.count == 1)
    state.publish(Self.none, of: state.generation)
    #expect(state.keptLists.count == 1)
  }
}
