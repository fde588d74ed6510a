// The input of the table and list workloads: changes of documents of a service desk.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

/// Random changes of incidents, ready to be applied: half insert a document, a fifth move one to another section or
/// time, a fifth change a field that no list uses, a tenth delete one.
struct ListCorpus: Sendable {
  enum Change: Sendable {
    case put(id: [UInt8], document: [UInt8])
    case delete(id: [UInt8])
  }

  let changes: [Change]

  init(count: Int, seed: UInt64 = 1) {
    var random = SeededGenerator(seed: seed)
    var live: [Incident] = []
    var changes: [Change] = []
    changes.reserveCapacity(count)
    for number in 0..<count {
      let kind = live.isEmpty ? 0 : Int.random(in: 0..<10, using: &random)
      let place = live.isEmpty ? 0 : Int.random(in: 0..<live.count, using: &random)
      switch kind {
      case 5, 6:
        live[place].time = number
        if Bool.random(using: &random) { live[place].product = Int.random(in: 0..<200, using: &random) }
        changes.append(live[place].put)
      case 7, 8:
        live[place].note &+= 1
        changes.append(live[place].put)
      case 9:
        live.swapAt(place, live.count - 1)
        changes.append(.delete(id: live.removeLast().idBytes))
      default:
        let incident = Incident(
          number: number, time: number, product: Int.random(in: 0..<200, using: &random))
        live.append(incident)
        changes.append(incident.put)
      }
    }
    self.changes = changes
  }

  /// The documents of a table with `count` rows, by ascending id.
  static func rows(_ count: Int) -> [Incident] {
    var random = SeededGenerator(seed: 2)
    return (0..<count).map {
      Incident(
        number: $0, time: Int.random(in: 0..<10_000_000, using: &random),
        product: Int.random(in: 0..<min(200, max(1, count / 10)), using: &random))
    }
  }

  /// The list that is measured: sections by product, newest first.
  static var list: CompiledList {
    get throws {
      try ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["product"]))
        .sorted(byField: FieldPath(names: ["time"]), .reverse)
        .compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    }
  }
}

/// A document of about 150 bytes.
struct Incident: Sendable {
  var number: Int
  var time: Int
  var product: Int
  var note = 0

  var id: String {
    let digits = String(number)
    return "1-" + String(repeating: "0", count: max(0, 9 - digits.utf8.count)) + digits
  }
  var idBytes: [UInt8] { Array(id.utf8) }

  var document: [UInt8] { DocumentValue.object(fields).cbor() }

  /// The event that puts the document.
  var event: NewEvent { NewEvent(DocumentEvent.put, in: StreamName("incident/\(id)"), .object(fields)) }

  private var fields: DocumentObject {
    [
      "id": .string(id), "time": .int(Int64(1_300_000_000 + time)),
      "product": .string("PROD\(100 + product)"),
      "status": .string("Accepted"), "substatus": .string("In Progress"), "impact": .string("Medium"),
      "group": .string("V\(number % 30)"), "role": .string("A2_\(number % 5)"),
      "country": .string("France"), "note": .int(Int64(note)),
    ]
  }

  var put: ListCorpus.Change { .put(id: idBytes, document: document) }
}

extension TableSet {
  /// Applies a change to the table `incident`.
  mutating func apply(_ change: ListCorpus.Change, _ sequence: UInt64, _ scratch: FoldScratch) {
    switch change {
    case .put(let id, let document):
      id.withUnsafeBytes { id in
        document.withUnsafeBytes { document in
          withTable("incident") {
            $0.put(id: id, document: document, at: Stamp(sequence: sequence, time: Int64(sequence)), scratch)
          }
        }
      }
    case .delete(let id):
      id.withUnsafeBytes { id in withTable("incident") { $0.remove(id: id, scratch) } }
    }
  }
}
