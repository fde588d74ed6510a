// The queue's state by itself: who waits where, who has the turn, and when the committer has enough.

import StrataBase
@testable import StrataLog
import StrataSimulation
import Testing

@Suite struct CommitQueueStateTests {
  /// An append of so many bytes or a little more; those of one batch keep their order.
  private func append(_ bytes: Int, batch: Gate<AppendResult?>? = nil) -> PendingAppend {
    let event = ModelEvent(stream: "s", type: "t", payload: [UInt8](repeating: 1, count: bytes))
    return PendingAppend(
      draft: ModelAppend([event]).draft(), caller: .thread(Gate(nil)),
      batch: batch.map { ObjectIdentifier($0) })
  }

  private func isSame(_ appends: [PendingAppend], _ others: [PendingAppend]) -> Bool {
    appends.map { ObjectIdentifier($0.draft) } == others.map { ObjectIdentifier($0.draft) }
  }

  @Test func `an append without room waits outside, uncounted, and comes in in its order`() {
    var waiting = WaitingAppends(bytesMax: 300)
    let appends = [append(200), append(200), append(10), append(10), append(10)]
    #expect(waiting.addOrKeepOutside(appends[0]) == true)
    #expect(
      waiting.addOrKeepOutside(appends[1]) == true, "it comes in where there is any room")
    #expect(waiting.addOrKeepOutside(appends[2]) == false)
    #expect(waiting.addOrKeepOutside(appends[3]) == false)
    #expect(waiting.addOrKeepOutside(appends[4]) == false)
    #expect(waiting.bytes == appends[0].draft.byteCount + appends[1].draft.byteCount)
    #expect(waiting.takeBack(appends[3].draft) != nil)
    #expect(isSame(waiting.takeGroup(bytesMax: 1_000), Array(appends[0...1])))
    #expect(waiting.isEmpty && waiting.bytes == 0)
    waiting.admit()
    #expect(isSame(waiting.takeGroup(bytesMax: 1_000), [appends[2], appends[4]]))
  }

  @Test func `an append that is taken back gives its room to those outside`() {
    var waiting = WaitingAppends(bytesMax: 100)
    let appends = [append(200), append(10)]
    #expect(waiting.addOrKeepOutside(appends[0]) == true)
    #expect(waiting.addOrKeepOutside(appends[1]) == false)
    #expect(waiting.takeBack(appends[0].draft) != nil)
    #expect(waiting.bytes == appends[1].draft.byteCount)
    #expect(waiting.takeBack(appends[0].draft) == nil, "nothing is taken back twice")
  }

  @Test func `a group is not larger than its limit, unless its first append alone is`() {
    var waiting = WaitingAppends(bytesMax: 10_000)
    let appends = [append(500), append(10), append(10), append(10)]
    for append in appends { waiting.add(append) }
    #expect(isSame(waiting.takeGroup(bytesMax: 100), [appends[0]]))
    let two = appends[1].draft.byteCount + appends[2].draft.byteCount
    #expect(isSame(waiting.takeGroup(bytesMax: two), Array(appends[1...2])))
    #expect(waiting.bytes == appends[3].draft.byteCount)
    #expect(isSame(waiting.takeGroup(bytesMax: 100), [appends[3]]))
    #expect(waiting.isEmpty && waiting.bytes == 0)
  }

  @Test func `no append is in a group before an earlier one of its batch that waits for an index`() {
    var waiting = WaitingAppends(bytesMax: 10_000)
    let batch = Gate<AppendResult?>(nil)
    let (first, second, other) = (append(10, batch: batch), append(20, batch: batch), append(30))
    waiting.add(first)
    #expect(isSame(waiting.takeGroup(bytesMax: 1_000), [first]))
    waiting.setAside([first])
    waiting.add(second)
    waiting.add(other)
    #expect(isSame(waiting.takeGroup(bytesMax: 1_000), [other]))
    #expect(waiting.bytes == first.draft.byteCount + second.draft.byteCount)
    #expect(waiting.release { $0 === second.draft } == 0, "it is bound to the one before it")
    #expect(waiting.release { _ in true } == 2)
    let late = append(40, batch: batch)
    waiting.add(late)
    #expect(isSame(waiting.takeGroup(bytesMax: 1_000), [first, second, late]))
  }

  @Test func `a visitor gets the turn before the committer and before a thread with its own append`() {
    var state = CommitQueue.State(waiting: WaitingAppends(bytesMax: 1_000))
    state.turn.arrive()
    #expect(state.turn.enter() == false, "the committer has the turn first")
    state.turn.rest(isUnbounded: true)
    #expect(state.takeTurnIfIdle() == false)
    state.waiting.add(append(10))
    #expect(state.takeWork(bytesMax: 1_000) == nil)
    #expect(state.turn.enter() == true)
    #expect(state.takeWork(bytesMax: 1_000) == nil)
    #expect(state.giveTurnBack(mustSettle: false) == true, "the committer waits for what is pending")
    guard case .group(let group) = state.takeWork(bytesMax: 1_000) else {
      Issue.record("the committer finds no group")
      return
    }
    #expect(group.count == 1 && state.turn.isTaken)
  }

  @Test func `a committer that sleeps without an end is woken where HEAD has to be synced`() {
    var state = CommitQueue.State(waiting: WaitingAppends(bytesMax: 1_000))
    for isUnbounded in [true, false] {
      state.turn.rest(isUnbounded: isUnbounded)
      #expect(state.takeTurnIfIdle() == true)
      #expect(state.giveTurnBack(mustSettle: false) == false)
      #expect(state.takeTurnIfIdle() == true)
      #expect(state.giveTurnBack(mustSettle: true) == isUnbounded)
      let work = state.takeWork(bytesMax: 1_000)
      if isUnbounded {
        guard case .idle = work else {
          Issue.record("the committer does not look")
          return
        }
      } else {
        #expect(work == nil)
        #expect(state.turn.takeOrWant() == true)
      }
    }
  }

  @Test func `a committer that only wants the turn is woken when it is given back, and not again later`() {
    var state = CommitQueue.State(waiting: WaitingAppends(bytesMax: 1_000))
    state.turn.rest(isUnbounded: false)
    #expect(state.takeTurnIfIdle() == true)
    #expect(state.turn.takeOrWant() == false)
    #expect(state.giveTurnBack(mustSettle: true) == true)
    state.waiting.add(append(10))
    #expect(state.takeWork(bytesMax: 1_000) != nil)
    state.turn.rest(isUnbounded: false)
    #expect(state.takeTurnIfIdle() == true)
    #expect(state.giveTurnBack(mustSettle: true) == false)
  }

  @Test func `a closed queue is drained of what is pending and aside before the committer is told`() {
    var state = CommitQueue.State(waiting: WaitingAppends(bytesMax: 1_000))
    let one = append(10)
    state.waiting.add(one)
    state.turn.rest(isUnbounded: true)
    (state.end, state.isClosing) = (.closed, true)
    guard case .group(let group) = state.takeWork(bytesMax: 1_000) else {
      Issue.record("what was accepted is committed")
      return
    }
    state.waiting.setAside(group)
    state.turn.rest(isUnbounded: true)
    #expect(state.takeWork(bytesMax: 1_000) == nil, "a look-up is under way")
    #expect(state.waiting.release { _ in true } == 1)
    guard case .group = state.takeWork(bytesMax: 1_000) else {
      Issue.record("what was looked up is committed")
      return
    }
    state.turn.rest(isUnbounded: true)
    guard case .closing = state.takeWork(bytesMax: 1_000) else {
      Issue.record("the committer is not told")
      return
    }
    #expect(state.turn.isTaken)
  }

  @Test func `the committer waits for as many callers as the last group had, up to a limit`() {
    var gathering = CommitQueue.Gathering()
    #expect(!gathering.isWaiting && gathering.isEnough(1))
    gathering.begin(after: 5)
    #expect(gathering.isWaiting && !gathering.isEnough(4) && gathering.isEnough(5))
    gathering.finish()
    #expect(gathering.isEnough(1))
    gathering.begin(after: 100_000)
    #expect(gathering.isEnough(CommitQueue.Gathering.countMax))
    gathering.begin(after: 1)
    #expect(!gathering.isWaiting)
  }
}
