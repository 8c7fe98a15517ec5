import { opendir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ToolContext } from '@holdfast/core/ports'
import { type FoundPath, type FoundPaths, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { listOwnPaths } from '../../system/files/own-paths.ts'
import { isInside, resolveWorkdir } from '../../system/files/resolve-path.ts'
import { compareText, keepFirst } from '../../system/keep-first.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { noReadRules } from '../define/read-rules.ts'
import { rankPath } from './rank-path.ts'
import { refusedSearch, type SearchDeps, startRipgrep } from './ripgrep.ts'
import { openPlace } from './search-place.ts'

/** Somebody is typing: an answer that takes longer comes too late. */
const timeoutMs = 3000

export type CompleteOptions = { readonly text: string; readonly limit: number; readonly signal: AbortSignal }

/** Completes paths for people who type them. */
export type CompletePaths = ReturnType<typeof createCompletePaths>

type Ranked = FoundPath & { readonly rank: number }

const compareRanked = (one: Ranked, other: Ranked): number =>
  one.rank - other.rank || one.path.length - other.path.length || compareText(one.path, other.path)

export function createCompletePaths(deps: SearchDeps) {
  const { ownPaths, readRules = noReadRules } = deps
  return {
    /**
     * Returns files and folders of a workdir for a mention. Leaves out what `find` leaves out: ignored and hidden files,
     * unless the text begins with a dot, and what rules deny. Links are not followed. Refused: as `openPlace`.
     */
    async inWorkdir(
      context: Pick<ToolContext, 'workdir' | 'permissions'>,
      { text, limit, signal }: CompleteOptions,
    ): Promise<Result<FoundPaths>> {
      const denied = await readRules.deniedTest('find', context)
      if (!denied.ok) return denied
      const opened = await openPlace(context.workdir, '.', ownPaths)
      if (!opened.ok) return opened
      await using place = opened.value
      const scope = { hidden: /(^|\/)\./.test(text), ignored: false }
      const started = await startRipgrep(['--files', '--null', '--', './'], place, scope, deps, { signal, timeoutMs })
      if (!started.ok) return started
      const first = keepFirst<Ranked>(limit, compareRanked)
      const folders = new Set<string>()
      const add = async (path: string, type: FoundPath['type']) => {
        const rank = rankPath(path, text)
        if (rank !== null && !(await denied.value?.(path.replace(/\/$/, '')))) first.add({ path, type, rank })
      }
      let rest: Buffer = Buffer.alloc(0)
      for await (const chunk of started.value.output) {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        const end = bytes.lastIndexOf(0)
        rest = bytes.subarray(end + 1)
        if (end < 0) continue
        for (const found of bytes.toString('utf8', 0, end).split('\0')) {
          const path = found.slice(2)
          await add(path, 'file')
          for (const folder of newFoldersOf(path, folders)) await add(`${folder}/`, 'folder')
        }
      }
      const ended = await started.value.ended
      if (ended.type === 'exited' && ended.code === 2 && first.count === 0) return refusedSearch(ended.errors)
      return ok(answer(first.end(), first.count > limit || ended.type !== 'exited'))
    },

    /**
     * Returns folders for a person who chooses one to work in. The text is an absolute path. Links are left out. Without a
     * text it is the folder of a session that names none.
     */
    async folders({ text, limit }: Omit<CompleteOptions, 'signal'>): Promise<Result<FoundPaths>> {
      if (text === '') {
        const here = await resolveWorkdir('.')
        return here.ok ? ok({ paths: [{ path: join(here.value, '/'), type: 'folder' }], isCut: false }) : here
      }
      if (text.includes('\0')) return refuse(fault('bad_workdir', 'The path of a folder has no NUL character.', {}))
      const parent = text.endsWith('/') ? text : dirname(text)
      const prefix = text.endsWith('/') ? '' : basename(text)
      const denied = await readRules.deniedTest('list_directory', { workdir: parent })
      if (!denied.ok) return denied
      const own = await listOwnPaths(parent, ownPaths)
      const first = keepFirst<Ranked>(limit, compareRanked)
      let seen = 0
      try {
        for await (const entry of await opendir(parent)) {
          if (++seen > limits.folderEntriesMax) break
          const path = join(parent, entry.name)
          const isShown = entry.isDirectory() && (prefix.startsWith('.') || !entry.name.startsWith('.'))
          const rank = isShown && !own.some((one) => isInside(one, path)) ? rankPath(entry.name, prefix) : null
          if (rank !== null && !(await denied.value?.(entry.name)))
            first.add({ path: `${path}/`, type: 'folder', rank })
        }
      } catch (error) {
        const code = systemErrorCode(error)
        if (code === null) throw error
        return refuse(fault('bad_workdir', `${parent} cannot be listed: ${code}.`, { path: parent, errno: code }))
      }
      return ok(answer(first.end(), first.count > limit || seen > limits.folderEntriesMax))
    },
  }
}

const answer = (found: readonly Ranked[], isCut: boolean): FoundPaths => ({
  paths: found.map(({ path, type }) => ({ path, type })),
  isCut,
})

/** Returns the folders above a file that were not seen before. */
function newFoldersOf(path: string, seen: Set<string>): readonly string[] {
  const found: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const folder = path.slice(0, at)
    if (seen.has(folder)) break
    seen.add(folder)
    found.push(folder)
  }
  return found
}
