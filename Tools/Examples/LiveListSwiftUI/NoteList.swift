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
  ///
  /// What owns the collection makes the list, once, and keeps it: `NoteList.of(notes)`. A view that made it in its `init`
  /// would make another one each time its parent is drawn.
  @MainActor
  struct NoteList: View {
    let list: LiveList<Note, String>

    static func of(_ notes: DocumentCollection<Note>) -> LiveList<Note, String> {
      LiveList(ListRequest(Note.self).sectioned(by: \.folder).sorted(by: \.title), from: notes)
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
