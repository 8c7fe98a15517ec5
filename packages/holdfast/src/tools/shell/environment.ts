import type { Environment } from '../../system/home.ts'
import { holdsKey } from '../../system/secrets/known-keys.ts'

/**
 * Never removed. SSH_AUTH_SOCK is the path of a socket, not a secret: the agent behind it signs and never reveals a key,
 * and without it no command can push. Without the others no command works.
 */
const plainNames = new Set(['PATH', 'HOME', 'PWD', 'OLDPWD', 'SSH_AUTH_SOCK'])

const secretNames = [
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PWD|^HOLDFAST_/i,
  // Whole words only, so that PATH and GIT_AUTHOR_NAME stay.
  /(?<![A-Z])(?:PATS?|SK|O?AUTH|AUTHORIZATION|BEARER|JWT|COOKIES?|HEADERS?|PRIVATE|SIGNING)(?![A-Z])/i,
  // The end of a word: SSHPASS, and GIT_ASKPASS, which would wait for a person.
  /PASS(?![A-Z])/i,
  // Git refuses to work when one of these is missing, so they go together with GIT_CONFIG_KEY_0.
  /^GIT_CONFIG_(?:COUNT$|VALUE_)/,
]

/** A certificate is public and often only named by its path (SSL_CERT_FILE); one that is given whole may hold its key. */
const certificateName = /CERT/i
const path = /^(?:\.{0,2}|~)\//

const secretValues = [
  /:\/\/[^\s/@:]*:[^\s@]*@/, // scheme://user:secret@
  /https?:\/\/[^\s/@]+@/i, // a token as the user; ssh://git@ is none
  /^[^\s/@:]+:[^\s/@]+@/, // user:secret@host, as proxies are named
  /(?:^|[;?&\s])(?:password|passwd|pwd|secret|token|api_?key|account_?key|access_?key)\s*=\s*[^\s;&]/i,
  /\b(?:bearer|basic)\s+[\w+/=.-]{8}/i,
  /(?<![A-Za-z0-9])(?:[sr]k[-_]|gh[a-z]_|github_pat_|glpat-|hf_|npm_|AIza|xox[a-z]-|eyJ)[\w-]{12}/,
  /(?<![A-Za-z0-9])A[KS]IA[0-9A-Z]{12}/,
  /-----BEGIN /,
]

/**
 * Returns the environment for a command: without credentials, and without programs that wait for a person. Removes the
 * variables matched above and every variable that holds a known key.
 */
export function commandEnvironment(environment: Environment, keyNames: readonly string[] = []): Record<string, string> {
  const named = new Set(keyNames)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || named.has(name)) continue
    if (plainNames.has(name) || !(isSecret(name, value) || holdsKey(value))) kept[name] = value
  }
  return { ...kept, PAGER: 'cat', GIT_PAGER: 'cat', TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' }
}

function isSecret(name: string, value: string): boolean {
  if (secretNames.some((pattern) => pattern.test(name))) return true
  if (certificateName.test(name) && !path.test(value)) return true
  return secretValues.some((pattern) => pattern.test(value))
}
