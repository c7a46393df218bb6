"""Which names are not set in the environment of a command: those that change how programs run.

A graph may have a key called PATH, written by a model. A shell that was given it as its own PATH
would run other programs, so such a value is handed over under another name.
"""

from __future__ import annotations

from typing import Final

_NAMES: Final = frozenset(
    "_ BASHOPTS BASHPID BROWSER CC CDPATH CFLAGS CLASSPATH COLUMNS CXX CXXFLAGS DISPLAY EDITOR ENV "
    "EUID FCEDIT FPATH GLOBIGNORE GNUMAKEFLAGS GOFLAGS GOPROXY GRADLE_OPTS GREP_OPTIONS HISTFILE "
    "HOME HOSTALIASES HOSTNAME IFS INPUTRC LANG LANGUAGE LDFLAGS LESS LESSCLOSE LESSOPEN LINES "
    "LOCALDOMAIN LOGNAME MAIL MAILPATH MAKEFILES MAKEFLAGS MANPAGER MAVEN_ARGS MAVEN_OPTS NLSPATH "
    "OLDPWD OPENSSL_CONF OPTARG OPTIND PAGER PATH POSIXLY_CORRECT PPID PROMPT PROMPT_COMMAND PS1 "
    "PS2 PS3 PS4 PWD RANDOM REQUESTS_CA_BUNDLE RES_OPTIONS RSYNC_RSH RUSTC RUSTFLAGS SECONDS SHELL "
    "SHELLOPTS SHLVL SUDO_ASKPASS TAR_OPTIONS TEMP TERM TERMCAP TERMINFO TMOUT TMP TMPDIR TZ TZDIR "
    "UID USER VIRTUAL_ENV VISUAL WGETRC ZDOTDIR".split()
)
_PREFIXES: Final = (
    "ANEW", "AWS_", "BASH_", "CARGO_", "CURL_", "DOCKER_", "DYLD_", "GCONV_", "GIT_", "GLIBC_",
    "JAVA_", "JDK_", "KUBE", "LC_", "LD_", "LUA_", "MALLOC_", "NODE_", "NPM_", "PERL", "PIP_",
    "PYTHON", "RUBY", "SSH_", "SSL_", "UV_", "XDG_", "_JAVA_",
)  # fmt: skip
_SUFFIXES: Final = ("_PROXY", "_PRELOAD")


def is_risky(name: str) -> bool:
    """Whether a variable of this name steers shells, loaders or well-known programs."""
    upper = name.upper()
    if upper.endswith(_SUFFIXES) or upper.startswith(("NPM_CONFIG", "LD_", "DYLD_")):
        return True
    return name in _NAMES or name.startswith(_PREFIXES)
