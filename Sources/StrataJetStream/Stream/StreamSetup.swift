// How a stream has to be set up, and whether it is.

internal import StrataDocuments
internal import StrataReplica

/// The configuration of one of the streams of a copy.
///
/// It is created by JSON that is written here, and what the server answers is compared field by field: a server leaves out
/// what it does not know, and the C client leaves out what it does not know either.
struct StreamSetup {
  let name: String
  private let fields: [(name: String, value: DocumentValue)]

  /// The objects. Nothing is ever thrown away: there is no limit, and nobody may purge. One object may be deleted, which
  /// is how erasing works.
  static func log(_ names: StreamNames, replicas: Int) -> StreamSetup {
    StreamSetup(names.log, on: names.logSubject, replicas: replicas, isPurgeDenied: true, hasRollups: false)
  }

  /// What is beside the objects. A member's note replaces the one before it.
  static func side(_ names: StreamNames, replicas: Int) -> StreamSetup {
    StreamSetup(
      names.side, on: names.sideSubjects, replicas: replicas, isPurgeDenied: false, hasRollups: true)
  }

  private init(_ name: String, on subjects: String, replicas: Int, isPurgeDenied: Bool, hasRollups: Bool) {
    self.name = name
    fields = [
      ("name", .string(name)), ("subjects", [.string(subjects)]), ("retention", "limits"),
      ("storage", "file"), ("num_replicas", .int(Int64(replicas))), ("discard", "new"),
      ("max_msgs", -1), ("max_bytes", -1), ("max_age", 0), ("max_msgs_per_subject", -1),
      ("max_msg_size", -1), ("allow_direct", true), ("allow_atomic", true), ("compression", "none"),
      ("deny_delete", false), ("deny_purge", .bool(isPurgeDenied)),
      ("allow_rollup_hdrs", .bool(hasRollups)),
    ]
  }

  /// What would lose messages, store others than were sent, or answer before they are stored.
  private static let absent = [
    "sealed", "no_ack", "mirror", "sources", "republish", "subject_transform", "allow_msg_ttl",
    "subject_delete_marker_ttl", "allow_msg_counter", "allow_msg_schedules", "discard_new_per_subject",
  ]

  /// The request that creates the stream.
  var json: String {
    let members = fields.map { "\(DocumentValue.string($0.name).json()):\($0.value.json())" }
    return "{\(members.joined(separator: ","))}"
  }

  /// Compares a configuration that a server answered. Returns what is wrong with it, nil if nothing is.
  func difference(from config: DocumentValue?) -> String? {
    guard let config, case .object = config else { return "the server does not say how the stream is set up" }
    for (field, wanted) in fields {
      let found = config[field]
      // Fields without a value are left out.
      guard found == wanted || (!wanted.isSet && !(found?.isSet ?? false)) else {
        return "\(field) of the stream \(name) is \(found?.json().prefix(100) ?? "not known to the server"), "
          + "and has to be \(wanted.json())"
      }
    }
    for field in Self.absent where config[field]?.isSet == true {
      return "the stream \(name) has \(field)"
    }
    if let mode = config["persist_mode"], mode.isSet, mode != "default" {
      return
        "persist_mode of the stream \(name) is \(mode.json().prefix(100)): it answers before it has stored"
    }
    return nil
  }

  /// Refuses a stream that is set up in another way, and one whose server is too old.
  func check(_ answer: DocumentValue) throws(CarrierError) {
    let config = answer["config"]
    let text = config?["metadata"]?["_nats.ver"]?.text
    let leader = answer["cluster"]?["leader"]?.text ?? "that answers"
    // Servers say so from 2.11 on.
    guard let version = text.flatMap({ ServerVersion($0) }), version >= .oldest else {
      throw .tooOld(leader, text ?? "before 2.11")
    }
    if let difference = difference(from: config) {
      throw CarrierError(
        .unfit, what: difference,
        next:
          "choose another name, or change the stream; ?replicas=1 in the URL says that one replica is enough")
    }
  }
}

/// What a stream has, as its leader says.
struct StreamState {
  let first: UInt64
  let last: UInt64
  /// How many sequences from the first on have no message.
  let deletedCount: UInt64
  /// Those of them that the answer lists.
  let deleted: [UInt64]

  /// nil if the answer does not have what every server says, or contradicts itself.
  init?(_ answer: DocumentValue) {
    guard let state = answer["state"], let first = state["first_seq"]?.unsigned,
      let last = state["last_seq"]?.unsigned, let count = state["messages"]?.unsigned, last < 1 << 62
    else { return nil }
    self.last = last
    self.first = last == 0 ? 1 : max(first, 1)
    guard self.first <= last + 1, count <= last + 1 - self.first else { return nil }
    deletedCount = last + 1 - self.first - count
    deleted = state["deleted"]?.items.compactMap(\.unsigned) ?? []
  }
}
