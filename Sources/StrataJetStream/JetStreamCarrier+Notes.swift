// What members say of themselves.

internal import StrataDocuments
public import StrataReplica

extension JetStreamCarrier {
  /// O(members).
  public func notes() throws(CarrierError) -> [CarrierNote] {
    var notes: [CarrierNote] = []
    for subject in try sideSubjects(names.members) {
      guard let tokens = names.tokens(subject, of: "member"), tokens.count == 1 else { continue }
      let query = #"{"last_by_subj":\#(DocumentValue.string(subject).json())}"#
      // Removed meanwhile, if there is none.
      guard let found = try leaderMessage(names.side, query) else { continue }
      notes.append(CarrierNote(member: String(tokens[0]), bytes: found.bytes))
    }
    return notes
  }

  public func setNote(_ note: CarrierNote) throws(CarrierError) {
    try storeBeside(
      BrokerMessage(
        subject: names.member(note.member), headers: [Header.rollup: "sub"], bytes: note.bytes))
  }

  public func removeNote(of member: String) throws(CarrierError) { try purgeSide(names.member(member)) }

  /// Removes the messages of a subject from the side stream, without overwriting them.
  func purgeSide(_ subject: String) throws(CarrierError) {
    let filter = DocumentValue.string(subject).json()
    let answer = try api("STREAM.PURGE", names.side, #"{"filter":\#(filter)}"#)
    guard let error = answer.error, error.code != APICode.streamNotFound else { return }
    throw CarrierError(refusedBy: error, names.side) ?? .silence(names.side, error.sentence)
  }
}
