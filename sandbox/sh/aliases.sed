# Turns what `alias` prints (name='value') into commands that define the aliases again: alias name='value'
# In a file, and not in an argument, so that `ps` shows nothing of it. Needs sed -E.

# A value may have several lines: as long as the quotes are not closed, the next line is joined on.
:a
/^[^=]*=('[^']*'|"'*")*$/!{
$!{
N
ba
}
}
s/^/alias /
