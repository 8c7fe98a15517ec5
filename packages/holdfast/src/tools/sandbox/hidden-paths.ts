import { realpath, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../system/home.ts'

/** A file or directory that a command in the sandbox cannot read. */
export type HiddenPath = { readonly path: string; readonly isDirectory: boolean }

/** Where programs keep keys, tokens, passwords and histories, in a home directory. */
const homeNames = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.oci', '.docker', '.kube', '.fly', '.terraform.d', '.terraformrc'],
  ...['.netrc', '.npmrc', '.yarnrc.yml', '.pypirc', '.pgpass', '.my.cnf', '.s3cfg', '.boto', '.vault-token'],
  ...['.git-credentials', '.password-store', '.gem/credentials', '.subversion/auth', '.m2/settings.xml'],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.gradle/gradle.properties', '.nuget/NuGet', '.config/NuGet'],
  ...['.config/gh', '.config/glab-cli', '.config/hub', '.config/git/credentials', '.config/gcloud', '.config/op'],
  ...['.config/doctl', '.config/rclone', '.config/containers', '.config/configstore', '.config/pip', '.config/sops'],
  ...['.local/share/keyrings', '.mozilla', '.thunderbird', '.config/google-chrome', '.config/chromium'],
  ...['.config/BraveSoftware', '.config/microsoft-edge', '.claude', '.claude.json', '.codex', '.gemini'],
  ...['.config/github-copilot', '.local/share/opencode', '.cache/huggingface/token', '.huggingface', '.config/stripe'],
  ...['.config/composer/auth.json', '.composer/auth.json', '.local/share/kwalletd', '.local/share/uv/credentials'],
  ...['.config/Signal', '.config/Slack', '.local/share/fish/fish_history'],
  ...['.databrickscfg', '.kaggle', '.config/hcloud', '.config/goose', '.config/ngrok', '.config/Bitwarden'],
  ...['.config/1Password', '.bundle/config', '.bitcoin', '.openai', '.pi/agent/auth.json'],
  ...['snap/firefox', '.var/app/org.mozilla.firefox'],
  ...['.bash_history', '.zsh_history', '.node_repl_history', '.python_history', '.psql_history', '.mysql_history'],
]

/** Readable for root alone, and a command of root is root. */
const machinePaths = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/var/spool/cron']

/** Where variables say that secrets are. */
const pathVariables = [
  'GNUPGHOME',
  'KUBECONFIG',
  'DOCKER_CONFIG',
  'NPM_CONFIG_USERCONFIG',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'NETRC',
  'PGPASSFILE',
]

/** Returns what is hidden from commands and exists: secrets of the user and the machine, and the paths of Holdfast. */
export async function findHiddenPaths(
  environment: Environment,
  own: readonly string[],
): Promise<readonly HiddenPath[]> {
  const homes = new Set([environment['HOME'], userInfo().homedir].filter((home) => home?.startsWith('/')))
  const named = pathVariables
    .flatMap((name) => (environment[name] ?? '').split(delimiter)) // kubectl takes a list
    .filter((path) => path.startsWith('/'))
  const paths = [...homes].flatMap((home) => homeNames.map((name) => join(home ?? '/', name)))
  const found = await Promise.all([...paths, ...named, ...machinePaths, ...own].map(lookUp))
  const byPath = new Map(found.filter((one) => one !== null).map((one) => [one.path, one]))
  return [...byPath.values()]
}

/** Returns where a path leads; null if there is nothing to hide. */
async function lookUp(path: string): Promise<HiddenPath | null> {
  try {
    const real = await realpath(path)
    return real === '/' ? null : { path: real, isDirectory: (await stat(real)).isDirectory() }
  } catch {
    return null // it does not exist, or we cannot read it either
  }
}
