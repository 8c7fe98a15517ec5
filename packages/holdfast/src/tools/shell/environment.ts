import type { Environment } from '../../system/home.ts'
import { holdsKey } from '../../system/secrets/known-keys.ts'

/**
 * Passed on whatever their value. SSH_AUTH_SOCK is the path of a socket, not a secret: the agent behind it signs and never
 * reveals a key, and without it no command can push. Without the others no command works.
 */
const plainNames = new Set(['PATH', 'HOME', 'SSH_AUTH_SOCK'])

/** Passed on unless their value looks like a secret. What is not listed here or in the configuration is not passed on. */
const passedNames = new Set([
  ...['USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'EMAIL'],
])

/** So that nothing waits for a person, pages, or prints colours. */
const ownEntries = {
  TERM: 'dumb',
  NO_COLOR: '1',
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
  LC_ALL: 'C.UTF-8',
}

/** Names of secrets: a listed variable could still be one of these. */
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

type PassOptions = {
  /** Variables that hold a provider's key: never passed on. */
  readonly keyNames?: readonly string[] | undefined
  /** Variables that a person has configured to be passed on, whatever they are called. */
  readonly passed?: readonly string[] | undefined
}

/**
 * Returns the environment for a command: the variables listed above and the configured ones, never one that holds a known
 * key, and what keeps programs from waiting for a person.
 */
export function commandEnvironment(
  environment: Environment,
  { keyNames = [], passed = [] }: PassOptions = {},
): Record<string, string> {
  const [keys, configured] = [new Set(keyNames), new Set(passed)]
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || keys.has(name)) continue
    const isListed = passedNames.has(name) || passedNames.has(name.toUpperCase())
    const isPlain = isListed && !isSecret(name, value)
    if (plainNames.has(name) || ((configured.has(name) || isPlain) && !holdsKey(value))) kept[name] = value
  }
  return { ...kept, ...ownEntries }
}

function isSecret(name: string, value: string): boolean {
  if (secretNames.some((pattern) => pattern.test(name))) return true
  if (certificateName.test(name) && !path.test(value)) return true
  return secretValues.some((pattern) => pattern.test(value))
}
