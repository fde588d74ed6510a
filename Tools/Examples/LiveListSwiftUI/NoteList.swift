// A list of documents in SwiftUI. Compiled where SwiftUI is; elsewhere this file is empty.

#if canImport(SwiftUI)
  import Strata
  import SwiftUI

  nonisolated struct Note: Codable, Identifiable, Sendable {
    var id: String
    var folder: String
    var title: String
  }

  /// Notes in sections, kept live: every change of the store moves, inserts and deletes rows.
  @MainActor
  struct NoteList: View {
    @State private var list: LiveList<Note, String>

    init(_ notes: DocumentCollection<Note>) {
      let request = ListRequest(Note.self).sectioned(by: \.folder).sorted(by: \.title)
      _list = State(initialValue: LiveList(request, from: notes))
    }

    var body: some View {
      List {
        ForEach(list.sections) { section in
          Section(section.id) {
            ForEach(section) { row in
              Text(row.item?.title ?? "")
            }
          }
        }
      }
      .overlay {
        if case .failed(let error) = list.phase { Text(error.localizedDescription) }
      }
      .animation(.default, value: list.snapshot?.sequence)
    }
  }
#endif
