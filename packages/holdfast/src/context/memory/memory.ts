import { basename } from 'node:path'
import { escapeLine, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { statFile } from '../../system/files/open-file.ts'
import { appendLine, memoryFull } from './append-line.ts'
import { memoryLine, minuteOf } from './memory-line.ts'
import { findPlace, type MemoryScope, openPlace } from './memory-place.ts'
import { type RememberedText, readMemory, readMemoryEnd } from './read-memory.ts'

const bytesMax = limits.memoryBytesMax

export type MemoryDeps = {
  readonly userFile: string
  readonly now: () => number
}

export type MemoryNote = { readonly workdir: string; readonly scope: MemoryScope; readonly text: string }

/** What is kept from session to session: a file of the user and one of the workspace, read anew each time. */
export function createMemory({ userFile, now }: MemoryDeps) {
  return {
    async read(workdir: string): Promise<Readonly<Record<MemoryScope, RememberedText | null>>> {
      const [user, workspace] = await Promise.all([
        readMemory({ scope: 'user', workdir, userFile }),
        readMemory({ scope: 'workspace', workdir, userFile }),
      ])
      return { user, workspace }
    },

    /** What the file would then hold. The minute is not known yet: someone may have to be asked first. */
    async foresee({ workdir, scope, text }: MemoryNote): Promise<Result<Foreseen>> {
      const found = await findPlace({ scope, workdir, userFile })
      if (!found.ok) return found
      const stats = await statFile(found.value)
      if (!stats.ok) return stats
      const { shown } = found.value
      const size = stats.value?.size ?? 0
      if (size + Buffer.byteLength(memoryLine(text, minuteOf(now()))) > bytesMax)
        return refuse(memoryFull(escapeLine(shown), bytesMax))
      const before = stats.value && ((await readMemoryEnd({ scope, workdir, userFile }))?.bytes.toString('utf8') ?? '')
      return ok({ path: shown, before, after: withLine(before ?? '', memoryLine(text, 'time of writing')) })
    },

    async append({ workdir, scope, text }: MemoryNote): Promise<Result<Appended>> {
      const found = await findPlace({ scope, workdir, userFile })
      if (!found.ok) return found
      const { shown, absolute, missing } = found.value
      const opened = await openPlace(scope, found.value)
      if (!opened.ok) return opened
      await using directory = opened.value
      const line = memoryLine(text, minuteOf(now()))
      const appended = await appendLine(directory.at(basename(absolute)), {
        line,
        shown: escapeLine(shown),
        mode: scope === 'user' ? 0o600 : 0o666,
        bytesMax,
      })
      if (!appended.ok) return appended
      if (missing.length > 0) await directory.sync()
      return ok({ path: shown, change: missing.length > 0 ? 'created' : 'modified', line: line.trimEnd() })
    },
  }
}

export type Foreseen = { readonly path: string; readonly before: string | null; readonly after: string }
export type Appended = { readonly path: string; readonly change: 'created' | 'modified'; readonly line: string }

const withLine = (before: string, line: string): string =>
  before === '' || before.endsWith('\n') ? `${before}${line}` : `${before}\n${line}`
