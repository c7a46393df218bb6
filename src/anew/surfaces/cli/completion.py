"""`anew completion`: a script that lets a shell complete commands, options and runs."""

from __future__ import annotations

from collections.abc import Callable

from anew.surfaces.cli import status
from anew.surfaces.cli.arguments import parser_for
from anew.surfaces.cli.command_table import COMMANDS

_BASH = """\
_anew() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{words}" -- "$word"))
    elif [[ "$word" == -* ]]; then
        local help="$(anew "${{COMP_WORDS[1]}}" --help 2>/dev/null)"
        local options="$(grep -oE -- '--[a-z-]+' <<< "$help" | sort -u)"
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _anew anew"""

_ZSH = """\
#compdef anew
_anew() {{
    if (( CURRENT == 2 )); then
        local -a commands=({described})
        _describe command commands
    elif [[ "$words[CURRENT]" == -* ]]; then
        local -a options
        options=(${{(f)"$(anew $words[2] --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)"}})
        compadd -- $options
    else
        _files
    fi
}}
compdef _anew anew"""

_FISH = """\
complete -c anew -f
{lines}
complete -c anew -n 'not __fish_use_subcommand' -F"""


def _bash() -> str:
    return _BASH.format(words=" ".join(row.word for row in COMMANDS))


def _zsh() -> str:
    described = " ".join(f"'{row.word}:{row.summary}'" for row in COMMANDS)
    return _ZSH.format(described=described)


def _fish() -> str:
    lines = [
        f"complete -c anew -n __fish_use_subcommand -a {row.word} -d '{row.summary}'"
        for row in COMMANDS
    ]
    return _FISH.format(lines="\n".join(lines))


SHELLS: dict[str, Callable[[], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def run(words: list[str]) -> int:
    parser = parser_for(
        "completion",
        purpose="Print a script that lets your shell complete the commands and options of anew.",
        example="anew completion bash >> ~/.bashrc\n"
        "anew completion zsh > ~/.zfunc/_anew\n"
        "anew completion fish > ~/.config/fish/completions/anew.fish",
    )
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    print(SHELLS[parser.parse_args(words).shell]())
    return status.DONE
