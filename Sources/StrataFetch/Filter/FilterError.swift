// Where a filter's text is wrong.
