import type { Environment } from '../../platform/environment.ts'

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|^HOLDFAST_/i

/** What a command may know of our environment: nothing that opens a door, and nothing that waits for a person. */
export function commandEnvironment(environment: Environment): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment))
    if (value !== undefined && !secretName.test(name)) kept[name] = value
  return { ...kept, PAGER: 'cat', GIT_PAGER: 'cat', TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' }
}
