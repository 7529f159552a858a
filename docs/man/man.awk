# SPDX-License-Identifier: Apache-2.0
# A manual page in Markdown to roff: headings, paragraphs, indented lines, and lists of `* HEAD:` with their text.
# What the program lists itself comes from the program, awk -v report=PROGRAM: a line of its own names it.
#
#     @SYNOPSIS@  the usage        @OPTIONS@  the options; items below it add details to an option of that name
#     @VIEWS@ @STYLES@ @REPORTS@   the lists of `help summary`
#     @COMMANDS@ @EXIT@            the commands and exit statuses of `help`
#     @VARIABLES@                  the variables of `env`
#
# Where the program does not run (it is for another machine), the page names the command that prints the list.

# Bold for `...` and **...**; what would be a request or an escape becomes text. `opened`: is a mark open?
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

# "--top N, -t N": names bold, values italic.
function option_head(text, words, nr, i, result)
{
	nr = split(text, words, " ")
	for (i = 1; i <= nr; i++) {
		result = result (i > 1 ? " " : "") (words[i] ~ /^-/ ? "\\fB" : "\\fI") words[i] "\\fP"
	}
	gsub(/-/, "\\-", result)
	return result
}

function run(arguments)
{
	return report " " arguments " 2>/dev/null"
}

# The usage of the page's command; gprof-record is a program of its own, beside gprof-report.
function usage(program)
{
	program = report
	sub(/[^\/]*$/, "gprof-record", program)
	return is_record ? program " --help 2>/dev/null" : run("help " command)
}

function missing(arguments)
{
	print shown("`gprof-report " arguments "` prints the list.")
}

# The lines `  NAME [*] HELP` below a heading of a command's output; an empty heading begins at once.
function list(arguments, heading, line, is_below, name, mark, nr)
{
	is_below = heading == ""
	while (report != "" && (run(arguments) | getline line) > 0) {
		if (line ~ /^[^ ]/) {
			is_below = heading != "" && index(line, heading) == 1
		} else if (is_below && line ~ /^ [^ ]/) {
			print ".SS " shown(substr(line, 2))
		} else if (is_below && line ~ /^  [^ ]/) {
			name = line
			sub(/^  /, "", name)
			sub(/ .*/, "", name)
			sub(/^  [^ ]+ +(-- )?/, "", line)
			mark = sub(/^\* /, "", line) ? " *" : ""
			print ".TP\n" shown("`" name "`" mark) "\n" shown(sentence(line))
			nr++
		}
	}
	close(run(arguments))
	if (!nr) {
		missing(arguments)
	}
}

# The rows `| NAME | DEFAULT | ALLOWED | HELP |` of `env --markdown`.
function print_variables(line, cells, i, nr)
{
	while (report != "" && (run("env --markdown") | getline line) > 0) {
		gsub(/\\\|/, "\001", line)
		if (split(line, cells, / *\| */) > 4 && cells[2] ~ /^GPROF/) {
			for (i = 2; i <= 5; i++) {
				gsub(/\\/, "", cells[i])
				gsub(/\001/, "|", cells[i])
			}
			gsub(/\|/, ", ", cells[4])
			print ".TP\n\\fB" cells[2] "\\fP"
			print shown(sentence(cells[5]) "\nValues: " cells[4] "." (cells[3] == "" ? "" : " Default: `" cells[3] "`."))
			nr++
		}
	}
	close(run("env --markdown"))
	if (!nr) {
		missing("env")
	}
}

# The options of the usage, in its order, each with the details that the page has of it.
function print_options(line, at, head, help, i)
{
	while (report != "" && (usage() | getline line) > 0) {
		if (line ~ /^  -/) {
			print_option(head, help)
			sub(/^  /, "", line)
			# The help is behind two blanks, or below.
			at = match(line "  ", /   */)
			head = substr(line, 1, at - 1)
			help = substr(line, at + RLENGTH)
		} else if (head != "" && line ~ /^    /) {
			sub(/^ +/, help == "" ? "" : " ", line)
			help = help line
		} else if (head != "") {
			break
		}
	}
	close(usage())
	print_option(head, help)
	if (head == "") {
		missing("help " command)
	}
	for (i in details) {
		if (head == "") {
			print ".TP\n" shown("`" i "`") "\n" details[i]
		} else if (!(i in is_printed)) {
			printf "%s: gprof-report %s has no option %s\n", FILENAME, command, i >"/dev/stderr"
			status = 1
		}
	}
}

function print_option(head, help, names, nr, i)
{
	if (head == "") {
		return
	}
	print ".TP\n" option_head(head) "\n" shown(sentence(help))
	nr = split(head, names, /[ ,]+/)
	for (i = 1; i <= nr; i++) {
		sub(/=.*/, "", names[i])
		if (names[i] in details) {
			print details[names[i]]
			is_printed[names[i]] = 1
		}
	}
}

function sentence(text)
{
	return toupper(substr(text, 1, 1)) substr(text, 2) (text ~ /\.$/ ? "" : ".")
}

function end_options()
{
	if (is_options) {
		print_options()
		is_options = 0
	}
}

function synopsis(line, is_read)
{
	is_read = report != "" && (usage() | getline line) > 0
	close(usage())
	sub(is_record ? "^usage: gprof-record" : "^usage: gprof-report [^ ]+", "", line)
	print shown("`" (is_record ? "gprof-record" : "gprof-report " command) "`" (is_read ? line : " [OPTION]..."))
}

/^# / {
	page = $2
	sub(/\(.*/, "", page)
	command = page
	sub(/^gprof-report-?/, "", command)
	is_record = command == "gprof-record"
	gsub(/-/, "\\-", page)
	print ".TH " toupper(page) " 1 \"\" \"gprof\" \"User Commands\"\n.SH NAME"
	sub(/^# /, "")
	sub(/\([0-9]\) --/, " -")
	print shown($0)
	next
}
/^## / {
	end_code()
	end_options()
	sub(/^## /, "")
	print ".SH " shown($0)
	is_begun = 0
	next
}
/^@SYNOPSIS@$/ {
	synopsis()
	next
}
/^@OPTIONS@$/ {
	is_options = 1
	next
}
/^@VIEWS@$/ {
	print shown("`summary` prints the views with a star when `--view` is not given.")
	list("help summary", "Views")
	is_begun = 1
	next
}
/^@STYLES@$/ {
	list("help summary", "Styles:")
	is_begun = 1
	next
}
/^@REPORTS@$/ {
	list("help summary", "Reports:")
	is_begun = 1
	next
}
/^@COMMANDS@$/ {
	list("help", "Commands:")
	is_begun = 1
	next
}
/^@EXIT@$/ {
	list("help", "Exit status:")
	is_begun = 1
	next
}
/^@VARIABLES@$/ {
	print_variables()
	is_begun = 1
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
	text = substr($0, at + 2)
	if (is_options) {
		gsub(/`/, "", head)
		option = head
		details[option] = text == "" ? "" : shown(text)
		next
	}
	print ".TP\n" shown(head ~ /`/ ? head : "`" head "`")
	if (text != "") {
		print shown(text)
	}
	is_begun = 1
	needs_space = 0
	next
}
{
	sub(/^  /, "")
	if (is_options) {
		details[option] = details[option] (details[option] == "" ? "" : "\n") shown($0)
		next
	}
	if (needs_space) {
		print ".PP"
	}
	print shown($0)
	is_begun = 1
	needs_space = 0
}
END {
	end_code()
	end_options()
	exit status
}
