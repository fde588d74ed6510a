// The objects of an event in its metadata, as an import of OCEL puts them there.

internal import StrataDocuments

/// `{"objects":[{"id":"o1","qualifier":"of","type":"order"}]}`
enum ProcessMetadata {
  static let member = "objects"

  /// The objects that metadata names; nil if it has none in this form.
  static func objects(in metadata: [UInt8]) -> [ProcessObjectName]? {
    guard !metadata.isEmpty, let value = try? DocumentValue(cbor: metadata),
      case .array(let elements)? = value[member]
    else { return nil }
    var names: [ProcessObjectName] = []
    for element in elements {
      guard case .string(let id)? = element["id"], case .string(let type)? = element["type"],
        case .string(let qualifier)? = element["qualifier"]
      else { return nil }
      names.append(ProcessObjectName(id: id, type: type, qualifier: qualifier))
    }
    return names
  }

  /// The metadata of these objects. One whose type is not known has none.
  static func value(of objects: [(id: String, type: String?, qualifier: String)]) -> DocumentValue {
    let elements = objects.map { object -> DocumentValue in
      var element: DocumentObject = ["id": .string(object.id), "qualifier": .string(object.qualifier)]
      if let type = object.type { element["type"] = .string(type) }
      return .object(element)
    }
    return .object([member: .array(DocumentArray(elements))])
  }
}
