import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A setting of a repository's own configuration. A null value is a name alone, which means true. */
export type Setting = { readonly name: string; readonly value: string | null }

/** Reads the settings of the repository itself from the list of all, with their scopes: `git config --list -z --show-scope`. */
export function ownSettings(listed: string): readonly Setting[] {
  const parts = listed.split('\0')
  return parts.flatMap((scope, index) => {
    if (index % 2 === 1 || (scope !== 'local' && scope !== 'worktree')) return []
    const text = parts[index + 1] ?? ''
    const end = text.indexOf('\n')
    return [end < 0 ? { name: text, value: null } : { name: text.slice(0, end), value: text.slice(end + 1) }]
  })
}

/** Settings that name other files, or that the environment already gives. */
const leftOut = /^(?:include\.path|includeif\..*|core\.worktree|core\.bare|extensions\.worktreeconfig)$/s

/** Writes settings as a file of git. */
export function formatSettings(settings: readonly Setting[]): string {
  return settings
    .filter(({ name }) => !leftOut.test(name))
    .map(({ name, value }) => {
      const [section = '', key = ''] = [name.slice(0, name.indexOf('.')), name.slice(name.lastIndexOf('.') + 1)]
      const subsection = name.slice(section.length + 1, Math.max(section.length + 1, name.length - key.length - 1))
      const head = subsection === '' ? section : `${section} "${subsection.replaceAll(/["\\]/g, '\\$&')}"`
      return `[${head}]\n\t${key}${value === null ? '' : ` = "${quoted(value)}"`}\n`
    })
    .join('')
}

const quoted = (value: string): string =>
  value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')

/** Files of the common directory that change what git does. The rest is linked. */
const replaced = new Set(['config', 'config.worktree', 'commondir'])

/** A private copy of the common directory, with settings that no other program can change. */
export interface PinnedConfig extends AsyncDisposable {
  readonly directory: string
}

/**
 * Pins a configuration that was checked: a command in the background may change the file at any time, also between the check
 * and the use. The data is linked, so that git works on the repository itself.
 */
export async function pinConfig(common: string, config: string): Promise<PinnedConfig> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-git-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    const names = (await readdir(common)).filter((name) => !replaced.has(name))
    await Promise.all(names.map((name) => symlink(join(common, name), join(directory, name))))
    await writeFile(join(directory, 'config'), config, { flag: 'wx', mode: 0o600 })
    return { directory, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}
