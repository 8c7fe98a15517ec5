/** The shells that completion scripts exist for. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

// Each script asks the program itself, `holdfast __complete WORD…`, which prints a candidate with its description on each
// line, or `:files` where the shell shall complete the name of a file.

const bash = `# holdfast completion bash >> ~/.bashrc
_holdfast() {
  local IFS=$'\\n' rest="\${COMP_LINE:0:COMP_POINT}" typed=() found reply word trimmed breaks= cut= i c
  # Bash also splits words at : = and @. Here only blanks do.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed="\${rest#"\${rest%%[![:space:]]*}"}"
    word="\${COMP_WORDS[i]}"
    ((i < COMP_CWORD)) || word="$trimmed"
    if ((i == 0)) || [ "$trimmed" != "$rest" ]; then typed+=("$word"); else typed[\${#typed[@]}-1]+="$word"; fi
    rest="\${trimmed#"$word"}"
  done
  word="\${typed[\${#typed[@]}-1]}"
  # Bash replaces only what follows the last of them; an @ is replaced too.
  for c in = : @; do [[ "$COMP_WORDBREAKS" != *"$c"* ]] || breaks+="$c"; done
  if [ -n "$breaks" ]; then cut="\${word%"\${word##*[$breaks]}"}"; cut="\${cut%@}"; fi
  found="$(holdfast __complete "\${typed[@]:1}" 2>/dev/null)"
  COMPREPLY=()
  if [ "$found" = ":files" ]; then
    compopt -o filenames 2>/dev/null
    for reply in $(compgen -f -- "$word"); do COMPREPLY+=("\${reply#"$cut"}"); done
  else
    # A name is never expanded: it may hold what the shell would run.
    while IFS=$'\\t' read -r reply c; do
      if [ -n "$reply" ]; then printf -v reply %q "\${reply#"$cut"}"; COMPREPLY+=("$reply"); fi
    done <<< "$found"
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
