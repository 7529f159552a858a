#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash, zsh and fish complete gprof-record and gprof-report: each is asked as its user would.
. "$(dirname "$0")/lib.sh"
need REPORT PLAIN
cd "$T" || exit 1
mkdir bin functions fish
for shell in bash zsh fish; do
	"$REPORT" completion $shell >$shell.script
	is "0 " "$? $(command -v $shell >/dev/null && $shell -n $shell.script 2>&1)" "the script for $shell"
done
printf '#!/bin/sh\n' >bin/t195-program && chmod +x bin/t195-program
export PATH=$T/bin:$PATH
options=$("$ROOT/$B/gprof-record" --help | grep -oE '^  (-o, )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort | tr '\n' ' ')

# ---- bash: the words of a line as readline splits it, "=" by itself ----
in_bash()
{
	bash --norc -c '. ./bash.script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${1//-/_}; echo "${COMPREPLY[*]}"' - "$@"
}
is "$options" "$(in_bash gprof-record -- | tr ' ' '\n' | grep -e -- | sed 's/=$//; /^--steps$/d' | sort | tr '\n' ' ')" "options in bash"
is "--python --python-hz --python-filter" "$(in_bash gprof-record --py)" "options that begin so, in bash"
is "stacks" "$(in_bash gprof-record --quiet --python st)" "a value in bash"
is "stacks,modules" "$(in_bash gprof-record --python = stacks,mod)" "one more of a list in bash"
is "docker" "$(in_bash gprof-record --print-env = d)" "a joined value in bash"
is "" "$(in_bash gprof-record -o x)" "a folder in bash is a file name"
is "t195-program" "$(in_bash gprof-record --sample-ms 5 --timer-only -o dump t195)" "the program in bash"
is "t195-program" "$(in_bash gprof-record --graph node -- t195)" "the program behind -- in bash"
is "" "$(in_bash gprof-record t195-program --py)" "the program's own option in bash"
is "zsh" "$(in_bash gprof-report completion z)" "gprof-report in bash"
is "" "$(in_bash gprof-report timeline -o x)" "the file of a short option in bash"
if [ -e /usr/share/bash-completion/bash_completion ]; then
	is "completion" "$(bash --norc -c '. /usr/share/bash-completion/bash_completion; . ./bash.script
		COMP_LINE="gprof-record -o d gprof-report comp" COMP_POINT=${#COMP_LINE} COMP_WORDS=($COMP_LINE) COMP_CWORD=4
		_gprof_record; echo "${COMPREPLY[*]}"' | tr -d ' ')" "the program's own completion in bash"
fi

# ---- fish: a line, its answers before the descriptions ----
in_fish()
{
	HOME=$T/fish XDG_CONFIG_HOME=$T/fish fish -N -c 'source fish.script; complete -C $argv[1]' "$1" 2>&1 | cut -f1 | sort | tr '\n' ' ' | sed 's/ $//'
}
if command -v fish >/dev/null; then
	is "$options" "$(in_fish "gprof-record --" | tr ' ' '\n' | grep -vxE -- '--steps|--print-env=' | tr '\n' ' ')" "options in fish"
	is "stacks" "$(in_fish "gprof-record --quiet --python st")" "a value in fish"
	is "stacks,modules" "$(in_fish "gprof-record --python stacks,mod")" "one more of a list in fish"
	is "--print-env=docker" "$(in_fish "gprof-record --print-env=d")" "a joined value in fish"
	is "functions/" "$(in_fish "gprof-record -o func")" "a folder in fish"
	is "t195-program" "$(in_fish "gprof-record --sample-ms 5 --timer-only -o dump t195" )" "the program in fish"
	is "t195-program" "$(in_fish "gprof-record --graph node -- t195")" "the program behind -- in fish"
	is "completion" "$(in_fish "gprof-record -o d gprof-report comp")" "the program's own completion in fish"
	is "fish zsh" "$(in_fish "gprof-report completion " | tr ' ' '\n' | grep -xE 'zsh|fish' | tr '\n' ' ' | sed 's/ $//')" "arguments in fish"
	is "kernel,memory-peak" "$(in_fish "gprof-report --view kernel,memory-p")" "views in fish"
	is "start steps stop" "$(in_fish "gprof-report control functions st")" "words of control in fish"
fi

# ---- zsh: a terminal, in which Control-T prints the line between marks ----
in_zsh()
{
	ZDOTDIR=$T/zsh timeout 60 zsh -f zsh.driver "$1" 2>&1
}
if command -v zsh >/dev/null && zsh -fc 'zmodload zsh/zpty' 2>/dev/null; then
	mkdir zsh
	cp zsh.script functions/_gprof-report
	cat >zsh/.zshrc <<'END'
PS1='its prompt> ' RPS1=
unset zle_bracketed_paste
fpath=($T/functions $fpath)
autoload -Uz compinit
compinit -u -D
show() { print -r -- "<<$BUFFER>>" }
zle -N show
bindkey -e
bindkey '^T' show
END
	cat >zsh.driver <<'END'
zmodload zsh/zpty
zpty shell zsh -d -i
zpty -r shell line '*its prompt> *'
zpty -w -n shell "$1"$'\t\x14'
zpty -r shell line $'*<<*>>*'
zpty -d shell
line=${line##*<<}
print -r -- "${line%%>>*}|"
END
	export T
	is "gprof-record --timer-only |" "$(in_zsh "gprof-record --tim")" "an option in zsh"
	is "gprof-record --python stacks,modules,|" "$(in_zsh "gprof-record --python stacks,mod")" "one more of a list in zsh"
	is "gprof-record --graph=node |" "$(in_zsh "gprof-record --graph=no")" "a value in zsh"
	is "gprof-record -o functions/|" "$(in_zsh "gprof-record -o func")" "a folder in zsh"
	is "gprof-record --quiet t195-program |" "$(in_zsh "gprof-record --quiet t195")" "the program in zsh"
	is "gprof-record -o d gprof-report completion |" "$(in_zsh "gprof-record -o d gprof-report comp")" "the program's own completion in zsh"
	is "gprof-report control x stop |" "$(in_zsh "gprof-report control x sto")" "words of control in zsh"
	is "gprof-report --view kernel,memory-peak,|" "$(in_zsh "gprof-report --view kernel,memory-p")" "views in zsh"
fi
finish
