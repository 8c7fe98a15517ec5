import type { SandboxState } from './sandbox.ts'

/** Tells the model what commands can reach. Null: the sandbox was not tried out yet. */
export function describeForModel(state: SandboxState | null): string {
  if (!state?.isInForce) return ''
  return (
    ' Commands run in a sandbox: only the working directory and /tmp can be written, .git/hooks, .git/config and files with an edit boundary cannot, and git init does not work in the working directory; keys and tokens in the home directory are hidden. ' +
    'There is no network unless a rule allows it: with network: true the person is asked. ' +
    '"Read-only file system", "Permission denied" and "Could not resolve host" come from the sandbox: tell the person and do not work around it.'
  )
}

/** Says to people whether commands are confined. */
export function describeForPeople({ setting, isInForce, reason }: SandboxState): string {
  if (isInForce)
    return 'Commands run in a sandbox: they write only the working directory and their own /tmp, and cannot read keys and tokens of yours.'
  const open = `Commands run without a sandbox (${reason}): an approved command can do what you can do.`
  return setting === 'on' ? `No command runs: the sandbox is required and cannot be used (${reason}).` : open
}
