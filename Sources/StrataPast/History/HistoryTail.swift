// What a history knows of the last events, before they are written.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The events after the runs as a run in memory, for reads in this process.
struct HistoryTail {
  /// Writing a change takes a sixtieth of what it takes to fold an event into a past state of a list.
  private static let changesPerEvent: UInt64 = 64

  let reader: RunReader
  /// The runs before it, and it.
  let runs: RunSet

  private init(_ reader: RunReader, _ runs: RunSet) { (self.reader, self.runs) = (reader, runs) }

  /// Writes what was recorded after some runs. O(changes · log rows).
  init(_ recording: HistoryRecording, _ historian: Historian, after runs: RunSet) throws(RunFailure) {
    let (name, number) = ("/tail", UInt32(0))
    let makings = historian.makings(of: recording, after: runs)
    let memory = MemoryFileSystem()
    let output: RunOutput
    do throws(StoreError) {
      output = RunOutput(historian.files, number, try memory.open(name, .createNew)) {
        () throws(StoreError) in
      }
    } catch { throw RunFailure(error) }
    let written = try recording.pending.write(
      to: output, historian.log.options.runLimits, makings, recording.withRowBefore)
    let file: any File
    do throws(StoreError) { file = try memory.open(name, .read) } catch { throw RunFailure(error) }
    do throws(PageDamage) {
      let reader = try RunReader(
        inMemory: file, historian.files, number, root: written.address, historian.cache)
      self.init(reader, try RunSet(runs.runs + [reader], runs.erasures, head: runs.head))
    } catch { throw RunFailure(error) }
  }

  /// Whether it has the keys of some lists, but for those that it cannot have.
  func isComplete(for owners: [KeyOwner]) -> Bool {
    let last = runs.runs.endIndex - 1
    return owners.allSatisfy { reader.hasKeys(of: $0) || !runs.haveKeys(of: $0, before: last) }
  }

  /// Whether an event is in it, or so little after it that replaying what is between costs less than writing it again.
  func suffices(through sequence: UInt64) -> Bool {
    sequence <= runs.end.addingSaturated(reader.root.counts.changes / Self.changesPerEvent)
  }

  /// The same after other runs; nil if these end elsewhere.
  func after(_ other: RunSet) -> HistoryTail? {
    guard other.end == reader.root.begin else { return nil }
    return (try? RunSet(other.runs + [reader], other.erasures, head: other.head)).map {
      HistoryTail(reader, $0)
    }
  }
}
