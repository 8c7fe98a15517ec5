import { mkdtemp, opendir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'

/** A setting of a repository's own configuration. A null value is a name alone, which means true. */
export type Setting = { readonly name: string; readonly value: string | null }

/** How many settings are read. A repository with more is not opened: each is compared and written anew. */
export const settingsMax = 10_000

/**
 * Reads the settings of the repository itself from the list of all, with their scopes: `git config --list -z --show-scope`.
 * Returns null if there are too many.
 */
export function ownSettings(listed: string): readonly Setting[] | null {
  const parts = listed.split('\0', 2 * settingsMax + 2)
  if (parts.length > 2 * settingsMax + 1) return null
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

/** How many entries the folder of a repository may have: git itself makes about twenty. */
export const entriesMax = 2000
/** Links that are made at once. */
const linksAtOnce = 50

/**
 * Pins a configuration that was checked: a command in the background may change the file at any time, also between the check
 * and the use. The data is linked, so that git works on the repository itself. Refused: too_large, and if it is aborted.
 */
export async function pinConfig(common: string, config: string, signal: AbortSignal): Promise<Result<PinnedConfig>> {
  const names = await entriesOf(common, signal)
  if (!names.ok) return names
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-git-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    for (let from = 0; from < names.value.length && !signal.aborted; from += linksAtOnce) {
      const some = names.value.slice(from, from + linksAtOnce)
      await Promise.all(some.map((name) => symlink(join(common, name), join(directory, name))))
    }
    if (signal.aborted) {
      await remove()
      return refuse(aborted)
    }
    await writeFile(join(directory, 'config'), config, { flag: 'wx', mode: 0o600 })
    return ok({ directory, [Symbol.asyncDispose]: remove })
  } catch (error) {
    await remove()
    throw error
  }
}

const aborted = fault('bad_request', 'aborted')

/** Returns the names in the common directory that are linked. */
async function entriesOf(common: string, signal: AbortSignal): Promise<Result<readonly string[]>> {
  const names: string[] = []
  for await (const { name } of await opendir(common)) {
    if (signal.aborted) return refuse(aborted)
    if (names.length >= entriesMax) return refuse(tooManyEntries(common))
    if (!replaced.has(name)) names.push(name)
  }
  return ok(names)
}

const tooManyEntries = (common: string) =>
  fault(
    'too_large',
    `${escapeLine(common)} has more than ${entriesMax} entries, which no repository of git has. Remove what does not belong there, or use git with the shell tool.`,
    { path: common },
  )
