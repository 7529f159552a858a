# SPDX-License-Identifier: Apache-2.0
# gprof-report.1.md to a manual page: its headings, paragraphs, indented lines, and lists of `* HEAD:` with their text.
# In place of @VIEWS@ and @STYLES@ stands what the program itself lists: awk -v report=PROGRAM. Where that does not run (it is
# for another machine), the page says how to ask it.

# Marks to fonts, and what would be a request or an escape to text. `opened` says of each mark if it was.
function shown(text, result, at, opened)
{
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	gsub(/\*\*/, "`", text)
	while ((at = index(text, "`"))) {
		result = result substr(text, 1, at - 1) (opened ? "\\fP" : "\\fB")
		text = substr(text, at + 1)
		opened = !opened
	}
	result = result text
	return result ~ /^[.']/ ? "\\&" result : result
}

function end_code()
{
	if (is_code) {
		print ".fi"
		is_code = 0
	}
}

# The lines `  NAME [*] HELP` below a heading of `help summary`.
function list(heading, line, is_below, name, nr, command)
{
	command = report " help summary 2>/dev/null"
	while (report != "" && (command | getline line) > 0) {
		if (line ~ /^[^ ]/) {
			is_below = index(line, heading) == 1
		} else if (is_below && line ~ /^  [^ ]/) {
			name = line
			sub(/^  /, "", name)
			sub(/ .*/, "", name)
			sub(/^  [^ ]+ +/, "", line)
			print ".TP\n" shown("`" name "`") "\n" shown(line)
			nr++
		}
	}
	close(command)
	if (!nr) {
		print "See gprof\\-report help summary."
	}
}

/^@VIEWS@$/ {
	print shown("A star marks those that are shown without `--view`.")
	list("Views")
	next
}
/^@STYLES@$/ {
	list("Styles:")
	next
}
/^# / {
	print ".TH GPROF\\-REPORT 1 \"\" \"gprof\" \"User Commands\"\n.SH NAME"
	sub(/^# /, "")
	sub(/\([0-9]\) --/, " -")
	print shown($0)
	next
}
/^## / {
	end_code()
	sub(/^## /, "")
	print ".SH " shown($0)
	is_begun = 0
	next
}
/^    / {
	if (!is_code) {
		print ".nf"
		is_code = 1
	}
	print shown(substr($0, 5))
	next
}
/^$/ {
	end_code()
	needs_space = is_begun
	next
}
/^\* / {
	at = match($0, /:( |$)/)
	head = substr($0, 3, at - 3)
	print ".TP\n" shown(head ~ /`/ ? head : "`" head "`")
	text = substr($0, at + 2)
	if (text != "") {
		print shown(text)
	}
	needs_space = 0
	next
}
{
	if (needs_space) {
		print ".PP"
	}
	sub(/^  /, "")
	print shown($0)
	is_begun = 1
	needs_space = 0
}
END {
	end_code()
}
