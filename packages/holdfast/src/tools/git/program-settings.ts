/** Settings with programs that no flag switches off. Those of the person or the machine may be set. */
export const programSettings =
  /^(?:filter\..*\.(?:clean|smudge|process)|gpg(?:\..*)?\.program|gpg\.ssh\.defaultkeycommand)$/s

/**
 * Names in a configuration that need git to be understood: programs, further files, other places. Names have no escapes and
 * ignore case, so a text without these words sets none of them. It
 * covers `programSettings`.
 */
export const needsGit = /filter|gpg|include|worktree|bare(?!\s*=\s*false\b)/i
