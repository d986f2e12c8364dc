# Turns a path, which may have several lines, into the command that goes there: cd 'it'\''s' || cd /home/operator
# In a file, and not in an argument, so that `ps` shows nothing of it.

# Each single quote ends the quoting, adds a quoted quote, and begins the quoting again.
s/'/'\\''/g
1s/^/cd '/
$s/$/' || cd \/home\/operator/
