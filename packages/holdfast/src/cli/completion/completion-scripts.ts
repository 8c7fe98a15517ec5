/** The shells that completion scripts exist for. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

// Each script asks the program itself, `holdfast __complete WORD…`, which prints a candidate with its description on each
// line, or `:files` where the shell shall complete the name of a file.

const bash = `# holdfast completion bash >> ~/.bashrc
_holdfast() {
  local found IFS=$'\\n'
  found="$(holdfast __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  if [ "$found" = ":files" ]; then
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  else
    COMPREPLY=($(compgen -W "$(printf '%s\\n' "$found" | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _holdfast holdfast
`

const zsh = `#compdef holdfast
# holdfast completion zsh > "$fpath[1]/_holdfast"
_holdfast() {
  local found line
  local -a described
  found="$(holdfast __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"
  if [[ "$found" == ":files" ]]; then
    _files
    return
  fi
  for line in "\${(@f)found}"; do
    [[ -n "$line" ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -V holdfast described
}
if [ "$funcstack[1]" = "_holdfast" ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`

const fish = `# holdfast completion fish > ~/.config/fish/completions/holdfast.fish
function __holdfast_complete
    set -l words (commandline -opc)
    set -l found (holdfast __complete $words[2..] (commandline -ct) 2>/dev/null)
    if test "$found" = ":files"
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $found
    end
end
complete -c holdfast -f -k -a '(__holdfast_complete)'
`

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
