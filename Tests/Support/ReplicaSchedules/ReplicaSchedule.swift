// Machines that ship, follow, take over, lose power and meet faults, in an order that a seed decides.

internal import StrataBase
internal import StrataEvents
package import StrataLog
package import StrataReplica
internal import StrataSimulation
internal import StrataTesting

/// One machine: a disk with a store, and what runs on it.
package final class ReplicaMachine {
  enum Work {
    case writes(Shipper)
    case follows(Follower)
    /// Overtaken, or what it has is not what the carrier has.
    case none
  }

  let number: Int
  var disk = SimulatedDisk()
  var store: EventStore?
  var work = Work.none
  /// What puts whole segments, where it writes.
  var segments: SegmentShipping?
  var trouble = ""
  /// The end that is known to be in the carrier.
  var shipped: WireEnd?

  init(_ number: Int) { self.number = number }

  package static var options: StoreOptions {
    var options = StoreOptions()
    options.writesInStep = true
    options.preallocationStep = 4096
    options.segmentSizeTarget = 16 << 10
    options.clock = SimulatedClock(step: 1_000).storeClock
    return options
  }
}

/// Runs one random schedule, and checks the laws at each step and at the end.
package struct ReplicaSchedule: ~Copyable {
  struct Broken: Error, CustomStringConvertible {
    var description: String
  }

  let carrier: any Carrier
  let setFaults: (Bool) -> Void
  private var random: SeededGenerator
  private var appends: RandomAppends
  private var machines: [ReplicaMachine] = []
  /// The chain after each sequence up to which something was called replicated.
  private var promised: [UInt64: UInt64] = [:]
  package private(set) var takeovers = 0
  package private(set) var powerCuts = 0
  /// How often objects were removed since segments hold what they held.
  package private(set) var segments = 0

  package init(seed: UInt64, carrier: any Carrier, setFaults: @escaping (Bool) -> Void) throws {
    random = SeededGenerator(seed: seed)
    appends = RandomAppends(seed: seed ^ 0x5EED, sizeTypical: 40, sizeMax: 3_000)
    self.carrier = carrier
    self.setFaults = setFaults
    let writer = ReplicaMachine(0)
    let store = try EventStore.open(writer.disk, path: "/store", .readWrite, options: ReplicaMachine.options)
    var mark = ReplicaMark(.writer, of: store.log.storeID, member: .random(), carrier: carrier.name)
    mark.erasedThrough = 0
    try store.log.setReplica(mark)
    writer.store = store
    writer.work = .writes(ship(store, mark.member))
    writer.segments = SegmentShipping(store.log, carrier, as: mark.member)
    machines = [writer, ReplicaMachine(1), ReplicaMachine(2)]
  }

  private func ship(_ store: EventStore, _ member: StoreID) -> Shipper {
    var limits = Shipper.Limits()
    limits.objectSize = 700
    limits.window = 3
    return Shipper(store.log, to: carrier, as: member, limits)
  }

  // MARK: Steps

  package mutating func run(steps: Int) throws {
    setFaults(true)
    for _ in 0..<steps { try step() }
    setFaults(false)
    try settle()
  }

  private mutating func step() throws {
    let machine = machines[Int.random(in: 0..<machines.count, using: &random)]
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: try append(on: machine)
    case 30..<90: try advance(machine)
    case 90..<94: try takeOver(machine)
    default: try cutPower(of: machine)
    }
  }

  private mutating func append(on machine: ReplicaMachine) throws {
    guard let store = machine.store, case .writes = machine.work else { return }
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      do throws(StoreError) { _ = try store.log.appendBlocking(appends.append().draft()) } catch {
        guard error.reason == .fenced else { throw error }
      }
    }
  }

  private mutating func advance(_ machine: ReplicaMachine) throws {
    if machine.store == nil { try open(machine) }
    switch machine.work {
    case .writes(let shipper):
      do throws(StoreError) {
        let step = try shipper.step()
        machine.trouble = "\(step)"
        if step == .idle { try shipper.look() }
      } catch {
        guard error.reason == .fenced else { throw error }
        machine.work = .none
        return
      }
      try promise(shipper.end, of: machine)
      if Int.random(in: 0..<12, using: &random) == 0 { try putSegments(of: machine, through: shipper.end) }
    case .follows(let follower):
      do throws(StoreError) { _ = try follower.step() } catch {
        machine.trouble = "\(error)"
        guard error.reason == .carrierUnavailable else { throw error }
      }
    case .none: break
    }
  }

  /// Seals what a machine has, and puts what is sealed.
  private mutating func putSegments(of machine: ReplicaMachine, through end: WireEnd?) throws {
    guard let store = machine.store, let end, machine.segments != nil else { return }
    if Bool.random(using: &random) { _ = try store.log.seal() }
    do throws(StoreError) {
      while try machine.segments?.step(through: end.sequence, isStopped: { false }) == true {}
      if try CarrierLog(carrier, of: store.log.storeID).firstNumber() > 1 { segments += 1 }
    } catch {
      machine.trouble = "\(error)"
      guard error.reason == .carrierUnavailable else { throw error }
    }
  }

  /// Everything up to the end is called replicated.
  private mutating func promise(_ end: WireEnd?, of machine: ReplicaMachine) throws {
    guard let end, end != machine.shipped else { return }
    machine.shipped = end
    if let chain = promised[end.sequence], chain != end.chain {
      throw Broken(description: "two ends at sequence \(end.sequence) were called replicated")
    }
    promised[end.sequence] = end.chain
  }

  private mutating func takeOver(_ machine: ReplicaMachine) throws {
    guard let store = machine.store, case .follows(let follower) = machine.work,
      var mark = store.log.replica
    else { return }
    var takeover = Takeover(follower, store.log, carrier, as: mark.member)
    for _ in 0..<4 where try takeover.step() {
      mark = store.log.replica ?? mark
      mark.role = .writer
      try store.log.setReplica(mark)
      machine.work = .writes(ship(store, mark.member))
      machine.segments = SegmentShipping(store.log, carrier, as: mark.member)
      takeovers += 1
      return
    }
  }

  private mutating func cutPower(of machine: ReplicaMachine) throws {
    machine.disk.cutPower()
    try? machine.store?.closeBlocking()
    machine.store = nil
    machine.work = .none
    machine.segments = nil
    machine.shipped = nil
    machine.disk = machine.disk.crash(
      seed: random.next(), model: [.reorder, .garbage, .dropAll].randomElement(using: &random)!)
    powerCuts += 1
  }

  /// Opens what a machine has, in the part that it has.
  private mutating func open(_ machine: ReplicaMachine) throws {
    let options = ReplicaMachine.options
    let layout = StoreLayout(root: "/store")
    let mark = try ReplicaMark.read(machine.disk, layout)
    do throws(StoreError) {
      switch mark?.role {
      case .writer:
        let store = try EventStore.open(machine.disk, path: "/store", .readWrite, options: options)
        machine.store = store
        machine.work = .writes(ship(store, mark!.member))
        machine.segments = SegmentShipping(store.log, carrier, as: mark!.member)
      case .follower, nil:
        let (store, _) = try EventStore.openFollower(
          of: carrier, machine.disk, at: "/store", options: options)
        machine.store = store
        machine.work = .follows(store.follower(from: carrier))
      case .fenced, .fork: machine.work = .none
      }
    } catch {
      guard error.reason == .carrierUnavailable || error.reason == .notFound else { throw error }
    }
  }

  // MARK: The end

  /// Lets everybody finish without faults, and compares all with a new member.
  private mutating func settle() throws {
    for _ in 0..<3 {
      for machine in machines { for _ in 0..<200 { try advance(machine) } }
    }
    let fresh = ReplicaMachine(9)
    try open(fresh)
    guard case .follows(let follower) = fresh.work, let store = fresh.store else {
      // Nothing was ever shipped.
      guard promised.allSatisfy({ $0.key == 0 }) else {
        throw Broken(description: "what was replicated is gone")
      }
      return
    }
    while try follower.step() {}
    let end = store.log.mark
    for (sequence, chain) in promised {
      guard sequence <= end.sequence, try store.log.chain(after: sequence) == chain else {
        throw Broken(
          description: "sequence \(sequence) was called replicated, and a new member does not have it")
      }
    }
    var writers = 0
    for machine in machines {
      guard let other = machine.store else { continue }
      if case .none = machine.work { continue }
      if case .writes = machine.work { writers += 1 }
      guard other.log.mark.visible.chain == end.visible.chain, other.log.mark.sequence == end.sequence else {
        throw Broken(
          description: "machine \(machine.number), \(machine.work), ends at \(other.log.mark), a new one at "
            + "\(end.sequence); the last trouble was \(machine.trouble)")
      }
    }
    guard writers <= 1 else { throw Broken(description: "\(writers) machines write") }
    for machine in machines + [fresh] { try machine.store?.closeBlocking() }
    let findings = try fresh.disk.findings(inStore: "/store")
    guard findings.isEmpty else { throw Broken(description: "a new member has findings: \(findings)") }
  }
}
