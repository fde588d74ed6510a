// The help of `import`, before its options.

/// What `logreplay help import` says of formats, ids, times and exit codes.
package enum ImportHelp {
  package static let discussion = """
    JSON lines: each line becomes one append of one event in the stream TABLE/ID; in a new store, line n \
    becomes sequence n, if no line before it is blank. The append id is SOURCE:LINE:HASH. Importing a file again \
    therefore appends only its new lines, an interrupted import continues where it stopped, and a line that was \
    changed is rejected; white space at its end is no part of a line, and blank lines are passed over. A source \
    name longer than 34 bytes is shortened in ids to at most its first 17 bytes, ~, and a hash of the whole name. \
    To import one file into two tables of a store, give each import its own --source.

    What the store has of a source are its first lines. A line that was bad and skipped, and is corrected after \
    later lines were imported, is refused: it would be applied after them. --apply-late does that.

    With --time, a line whose time is earlier than the latest one before it, in the input or the store, is \
    refused; the lines before it stay. --sort-by-time, --time-slack and --clamp-time say what to do instead. A time \
    that is more than a day later than the clock is named on standard error and taken, and only times that are \
    as late are compared with it. Events of Strata's own, such as the note of an erasure, are compared with none.

    An integer is kept exactly. Any other number is kept as a double, if that gives the number back: as its \
    shortest text, or rounded to as many digits. A number with more digits than that, such as \
    0.123456789012345678, and one that is too large, is bad. The integer 1 and the text "1" are ids of the same \
    row: the first id that an input or the store has as both is named.

    json: an array of objects, objects over several lines, a sequence (RFC 7464), or {"Records":[…]}. Each object is \
    one append, as a line is; its number takes the place of the line's. It is recognised by its beginning.

    csv, tsv: RFC 4180, in UTF-8, with the names of the fields in the first line. Each row is one append, as a line \
    is; its number counts the rows after the header, and with other names in the header it is another row. A field \
    is a number only if that is how the number is printed, so that 007, +5, 1.0, 1e3 and -0 are texts; what is in \
    quotes is a text, "" an empty one; an empty field without quotes is null; --types says otherwise. The id is a \
    text. A row with more or fewer fields than the header is bad.

    sqlite: a table or view of a database file, read with the program sqlite3. Integers, reals, texts and blobs are \
    integers, doubles, texts and bytes, and NULL is null. Rows have no append ids: a row is appended if the store's \
    differs from it, so that a later import of the same table appends what changed since. Rows that are gone stay.

    bzip2, zstd, xz, zip, UTF-16, git bundles, and what `at` and `log` print are recognised by their beginning and \
    refused, with the command that makes something of them that can be imported.

    --sync: the input is a dump of the whole table, made anew each night. It is read to its end and sorted by ids, on \
    disk where it does not fit into 32 MiB, and compared with the table. Then rows that differ are appended, and at \
    last those that are not in the dump are deleted. Equal are rows whose documents are the same value: the order of \
    keys does not count, and 1 and 1.0 are two values. A sync that is killed leaves a part of that; the next one does \
    the rest. Nothing at all is appended, and the exit code is 65 with the counts, where a record is bad, an id comes \
    twice, the input is empty, ends without a line feed or inside compressed data, or more rows would be deleted than \
    --delete-max allows. With --skip-bad, rows are added and changed then, and none is deleted.

    --mapping takes all that is said about fields from a file of JSON, for records of any format: which of them are \
    rows, events of one's own or nothing, their ids, times and metadata, what the document is, and the append id. \
    Three mappings are known by name: couchdb reads the lines of _changes?feed=continuous&include_docs=true, journald \
    those of journalctl -o json --all, and kurrentdb the entries of /streams/$all?embed=body, a line each. A file of \
    one of these names is given with its folder: ./couchdb.

    cloudevents: each CloudEvent in JSON, of lines or of a batch, becomes one append of one event. Its stream is the \
    source, with %2F for each slash, then a slash and the subject; its type and time are those of the CloudEvent; the \
    attributes are metadata; and the append id is SOURCE, a space and ID, so that each is imported once. What \
    `export --events --format cloudevents` wrote has its own streams and metadata again.

    git: each commit along first parents becomes one append, oldest first, whose id is the commit's hash. It \
    holds an event git.commit in commit/HASH, then a $put or $delete in file/PATH for each path that differs from \
    the first parent's tree. A path in the root has the folder "". Text that is not UTF-8 is read with \
    replacement characters. A path that is not UTF-8, or that begins with a double quote, becomes an id as git \
    quotes it, with "quoted":true. An id has at most 1,019 bytes: that of a longer path is its first bytes, ~, and \
    a hash, with the whole path as "path". The size of a submodule is null.

    If the last commit that was imported is merged by one whose first parent is another, as a pull does it, that \
    merge is one append of what differs from that last commit, which git.commit names as "comparedWith". The \
    commits that came with it have no appends: up to 1,000 have an event git.merged that names it. A commit that \
    changes too much for one append becomes several, HASH.1, HASH.2 and so on, of which the last has the id HASH; \
    head~N and bisect count them as one.

    With --all each commit of any ref is one append, after its parents and otherwise by date, of what differs from \
    the commit before it in the store. That one is in "comparedWith" if it is not the first parent.

    The time of an append is the committer's, also where it is before that of the commit before. Where git cannot \
    read it, or it is not from 1970 to 2262, it is that of the commit before, and git.commit has the line as \
    "committerLine".

    The history is what its commits say: grafts and git replace do not count. Of a shallow clone it would begin in \
    the middle, so it is imported only with --shallow. Nothing is fetched, and no program is started that the \
    repository's settings name.

    xes: a trace is a case, and each of its events one append of an event in the stream TABLE/CASE (the table is case \
    unless --table names another). Its type is concept:name, its time is time:timestamp, and its payload has the other \
    attributes. Attributes of a trace are a row, put before its first event. ocel: OCEL 2.0 as JSON or SQLite. An \
    event is appended to the stream of its first object, TYPE/ID, with all its objects as "objects" in the metadata; \
    one without objects to event/ID. An object is a row of the table of its type, put with its first attributes and \
    merged with each later change. The whole log is read and checked, and sorted by time, before the first append. An \
    append's id is SOURCE:ID:PART, so that a second run appends only what is new. Namespaces, document types and \
    entities of their own in XML are refused, and so is what a log holds twice, or names and does not have.

    An import that fails before its first append leaves no new folder behind. In a folder that was there before, or \
    in which something else was put, it leaves an empty store.

    Exit codes: 3 bad records, or what follows compressed data, were skipped, 64 usage, 65 a line that is bad, changed, \
    late or goes back in time, 66 no such file, 73 the store cannot be created, 74 an I/O error or a full disk, 75 \
    the store is open in another process.
    """
}
