// The help of `export` for processes.

/// What `logreplay help export` says of OCEL, XES and mappings.
package enum ExportProcessHelp {
  package static let discussion = """
    With --events and --format ocel, ocel-sqlite or xes, the events are those of a process, for programs that mine \
    processes. Without --mapping, the type of an event is its activity; its objects are those that its metadata names \
    as an import of OCEL puts them there, or else its stream; and its stream is its case (xes). $put, $merge and $delete \
    are then no events: they say what attributes an object or a case has. A mapping is a JSON object with any of these \
    members: activity, time and case, each a field as --id of import names it; objects, an array of {"type":…, \
    "category":…} for streams of a category or {"type":…, "field":…} for a field of ids, each with a "qualifier" if one \
    is wanted; attributes, the names of the fields to export; and rows, "events" or "objects", what $put, $merge and \
    $delete are: events where there is an activity. An event without the field of the activity or the time has its \
    type, or its own time. Attributes are the fields of the payload that hold one value; others are counted. A value \
    that the form does not have is an error that names the event: an integer beyond 64 bits, infinity in OCEL, a control \
    character in XES.
    """
}
